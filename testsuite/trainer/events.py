"""Reads TensorBoard's event files: each checksum must hold, and each byte belong to a known field.

The formats are those of tensorflow/core/lib/io/record_writer.h, event.proto and summary.proto."""
import struct

TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    TABLE.append(number)


def masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


assert masked(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8]), f"byte {at}: the checksum of a length"
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), \
            f"byte {at}: the checksum of a record"
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            kind, size = {1: ("<d", 8), 5: ("<f", 4)}[key & 7]
            value, at = struct.unpack_from(kind, data, at)[0], at + size
        assert at <= len(data)
        yield key >> 3, value


def events(path):
    """(time, step, number and value of the other field) of each event."""
    with open(path, "rb") as file:
        for record in records(file.read()):
            (one, time), (two, step), (kind, value) = fields(record)
            assert (one, two) == (1, 2), record
            yield time, step, kind, value


def scalars(path):
    """(tag, step, value) of each, after the head; and the steps of its restarts."""
    found, restarts = [], []
    (_, _, kind, version), *rest = events(path)
    assert (kind, version) == (3, b"brain.Event:2")
    for _, step, kind, value in rest:
        if kind == 7:
            assert list(fields(value)) == [(1, 1)]
            restarts.append(step)
            continue
        assert kind == 5
        (one, item), = fields(value)
        assert one == 1
        (first, tag), (second, number) = fields(item)
        assert (first, second) == (1, 2)
        found.append((tag.decode(), step, number))
    return found, restarts
