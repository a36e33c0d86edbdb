// PNG files of colours in 8 bits, without compression (RFC 2083; deflate's
// stored blocks, RFC 1951; zlib's frame, RFC 1950).
#pragma once
#include "output.cuh"

// Returns the checksum of bytes after others with this one (CRC-32, bit by bit).
static inline uint32_t add_crc(uint32_t crc, const unsigned char *bytes, size_t count)
{
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static inline void put_big_endian(unsigned char *to, size_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

// Writes a chunk: its length, name and bytes, and the checksum of the last two.
static inline void write_png_chunk(FILE *out, const char *name, const unsigned char *bytes,
                                   size_t count)
{
    unsigned char word[4];
    put_big_endian(word, count);
    fwrite(word, 1, 4, out);
    fwrite(name, 1, 4, out);
    fwrite(bytes, 1, count, out);
    put_big_endian(word, add_crc(add_crc(0, (const unsigned char *)name, 4), bytes, count));
    fwrite(word, 1, 4, out);
}

// Writes an image, height x width x 3 bytes, to a file.  `memory` has room for png_room bytes.
static inline size_t png_room(long long height, long long width)
{
    const size_t bytes = (size_t)(height * (1 + 3 * width));
    return bytes + 5 * (bytes / 65535 + 1) + 6;
}

static inline bool write_png(const char *path, const unsigned char *image, long long height,
                             long long width, unsigned char *memory)
{
    const size_t row = 3 * (size_t)width, count = (size_t)height * (row + 1);
    unsigned char head[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0}, *to = memory;
    uint32_t low = 1, high = 0;         // Adler-32
    BesideFile file = {};
    sweep_beside(path);
    if (!open_beside(path, &file)) return false;
    put_big_endian(head, (size_t)width);
    put_big_endian(head + 4, (size_t)height);
    *to++ = 0x78;
    *to++ = 1;
    for (size_t i = 0; i < count; i++) {
        if (i % 65535 == 0) {
            const size_t length = count - i < 65535 ? count - i : 65535;
            const size_t head_of[] = {i + length == count, length & 255, length >> 8,
                                      ~length & 255, ~length >> 8 & 255};
            for (size_t byte : head_of) *to++ = (unsigned char)byte;
        }
        // Each row begins with the number of its filter, 0: none.
        *to = i % (row + 1) ? image[i / (row + 1) * row + i % (row + 1) - 1] : 0;
        low = (low + *to++) % 65521;
        high = (high + low) % 65521;
    }
    put_big_endian(to, (size_t)high << 16 | low);
    fwrite("\x89PNG\r\n\x1A\n", 1, 8, file.out);
    write_png_chunk(file.out, "IHDR", head, sizeof head);
    write_png_chunk(file.out, "IDAT", memory, (size_t)(to + 4 - memory));
    write_png_chunk(file.out, "IEND", head, 0);
    return close_beside(&file, !ferror(file.out));
}
