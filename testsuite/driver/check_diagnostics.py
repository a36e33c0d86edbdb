#!/usr/bin/env python3
"""The formats of --diagnostics.

usage: check_diagnostics.py CNNC FOLDER

Each program of FOLDER is compiled with messages as text, as JSON and as SARIF. The exit status is
the same, and the JSON has the messages of the text in order: kind, place, text, details, fix-its.
Columns are those of the source's characters and bytes. The SARIF has the same messages and ranges,
and is sound by the schema of SARIF 2.1.0 (sarif.py). Logs with a fault are not. Other messages
are errors of options and of files, warnings, budgets, and more than 20 errors. Names have quotes,
control characters, spaces and bytes that are no UTF-8. A compilation without messages prints an
empty list.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

from sarif import corrupted, faults_of

faults = []


def run(cnnc, arguments, form, **options):
    """Status, and standard error as bytes."""
    chosen = ["--diagnostics", form] if form else []
    result = subprocess.run([cnnc, *arguments, *chosen], stderr=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, **options)
    return result.returncode, result.stderr


def text_messages(text):
    """Kind, place, text and replacement of each message of the terminal."""
    found = []
    for line in text.split("\n"):
        placed = re.match(r"(.*?)(?::(\d+):(\d+))?: (error|warning|note): (.*)", line)
        plain = re.match(r"cnnc: (.*)", line)
        fixit = re.match(r"      \| +([^\s^].*)", line)
        if placed and placed[1] != "cnnc":
            place = (placed[1], int(placed[2] or 0), int(placed[3] or 0))
            found.append([placed[4], place, placed[5], None])
        elif placed:
            found.append([placed[4], None, placed[5], None])
        elif plain:
            found.append([None, None, plain[1], None])
        elif fixit:
            found[-1][3] = fixit[1]
        elif line.startswith("  ") and not re.match(r" +(\d+ )?\|", line):
            found[-1][2] += "\n" + line
    return found


def json_messages(messages):
    for message in messages:
        caret = message["locations"][0]["caret"] if message["locations"] else None
        place = caret and (caret["file"], caret.get("line", 0), caret.get("column", 0))
        fixits = message.get("fixits")
        yield [message["kind"], place, message["message"], fixits and fixits[0]["string"]]
        yield from json_messages(message.get("children", []))


def sarif_messages(results):
    for result in results:
        yield from sarif_message(result, result["level"], result["locations"])
        for related in result.get("relatedLocations", []):
            yield from sarif_message(related, "note", [related])


def sarif_message(item, kind, locations):
    physical = locations[0].get("physicalLocation") if locations else None
    place = physical and (path_of(physical["artifactLocation"]["uri"]),
                          *(physical.get("region", {}).get(k, 0)
                            for k in ("startLine", "startColumn")))
    fixes = item.get("fixes")
    replacement = fixes and fixes[0]["artifactChanges"][0]["replacements"][0]
    yield [kind, place, item["message"]["text"],
           replacement and replacement["insertedContent"]["text"]]


def path_of(uri):
    return os.fsdecode(urllib.parse.unquote_to_bytes(re.sub("^file://", "", uri)))


def check_shape(messages, where, depth=0):
    keys = {"kind", "message", "locations", "column-origin", *(["children"] if depth == 0 else [])}
    for message in messages:
        if message.keys() - {"fixits"} != keys or message["column-origin"] != 1:
            faults.append(f"{where}: a message has the members {sorted(message)}")
        if depth == 0 and message["kind"] == "note" and message["locations"]:
            faults.append(f"{where}: a note is about no message: {message['message']}")
        for location in message["locations"]:
            check_range(location["caret"], location.get("finish"), 1, where)
        for fixit in message.get("fixits", []):
            check_range(fixit["start"], fixit["next"], 0, where)
        check_shape(message.get("children", []), where, 1)


def check_range(start, end, more, where):
    """Columns of characters and of bytes bound the same text; `end` is inclusive if more is 1."""
    if "line" not in start or "\ufffd" in start["file"]:
        return
    line = Path(start["file"]).read_bytes().split(b"\n")[start["line"] - 1]
    if start["line"] == 1:
        line = line.removeprefix(b"\xef\xbb\xbf")
    text = line.decode("utf-8", "replace")
    by_character = text[start["column"] - 1:end["column"] - 1 + more]
    first, last = start["byte-column"] - 1, end["byte-column"] - 1
    last += len(text[end["column"] - 1:end["column"]].encode()) if more else 0
    if line[first:last].decode("utf-8", "replace") != by_character:
        faults.append(f"{where}: columns have {by_character!r}, bytes {line[first:last]!r}")


def check(cnnc, where, arguments, **options):
    """Compares the three formats; returns the messages of JSON."""
    status, text = run(cnnc, arguments, None, **options)
    as_json, sarif = (run(cnnc, arguments, form, **options) for form in ("json", "sarif"))
    if not status == as_json[0] == sarif[0]:
        faults.append(f"{where}: status {status} as text, {as_json[0]} and {sarif[0]} as data")
    messages = json.loads(as_json[1].decode())
    log = json.loads(sarif[1].decode())
    check_shape(messages, where)
    faults.extend(f"{where}: SARIF: {fault}" for fault in faults_of(log))
    check_log(log, messages, where)
    invocation = log["runs"][0]["invocations"][0]
    if invocation != {"executionSuccessful": status == 0, "exitCode": status}:
        faults.append(f"{where}: {invocation} for the status {status}")
    shown = text_messages(text.decode("utf-8", "replace").rstrip("\n"))
    kept = list(json_messages(messages))
    told = list(sarif_messages(log["runs"][0]["results"]))
    for kind, place, words, fixit in (message for message in shown if message[0] is None):
        kept_kind = next((m[0] for m in kept if m[2] == words.removeprefix("warning: ")), None)
        i = shown.index([kind, place, words, fixit])
        shown[i] = [kept_kind, place, words.removeprefix("warning: "), fixit]
    if shown != kept:
        faults.append(f"{where}: the terminal shows {shown}, and JSON {kept}")
    if [m[0::2] for m in told] != [m[0::2] for m in kept]:
        faults.append(f"{where}: SARIF has {told}, and JSON {kept}")
    for a, b in zip(told, kept):
        same = a[1] == b[1] or a[1] and (os.fsencode(a[1][0]).decode("utf-8", "replace"),
                                         *a[1][1:]) == b[1]
        if not same:
            faults.append(f"{where}: the place is {a[1]} in SARIF, {b[1]} in JSON")
    return kept


def check_log(log, messages, where):
    """The log is what cnnc promises, with the ranges of JSON."""
    run_of, = log["runs"]
    driver = run_of["tool"]["driver"]
    if driver["name"] != "cnnc" or not re.match(r"\d+\.\d", driver["version"]) or \
            run_of["columnKind"] != "unicodeCodePoints" or \
            not log["$schema"].endswith("sarif-schema-2.1.0.json"):
        faults.append(f"{where}: the log is not cnnc's: {driver}")
    for result, message in zip(run_of["results"], messages):
        regions = [location["physicalLocation"].get("region") for location in result["locations"]]
        ranges = [(place["caret"], place.get("finish"), 1) for place in message["locations"]]
        for fix, fixit in zip(result.get("fixes", []), message.get("fixits", []), strict=True):
            regions.append(fix["artifactChanges"][0]["replacements"][0]["deletedRegion"])
            ranges.append((fixit["start"], fixit["next"], 0))
        for region, (start, end, more) in zip(regions, ranges, strict=True):
            wanted = {"startLine": start["line"], "startColumn": start["column"],
                      "endColumn": end["column"] + more} if "line" in start and end else None
            if region != wanted and wanted:
                faults.append(f"{where}: the region is {region} in SARIF, {wanted} in JSON")


def check_power(cnnc, folder):
    """Each fault of a log is found."""
    path = Path(folder, "power.cnn")
    path.write_text("net n {\n    input x : f32[3]\n    y = x -> conf\n    y2 = x -> dense\n"
                    "    input x : f32[4]\n}\n")
    log = json.loads(run(cnnc, [str(path)], "sarif")[1])
    results = log["runs"][0]["results"]
    expect(any("fixes" in result for result in results) and
           any("relatedLocations" in result for result in results), "the log to corrupt")
    count = 0
    for word, bad in corrupted(log):
        count += 1
        if not list(faults_of(bad)):
            faults.append(f"a log with a fault is sound: {word}")
    return count


def expect(condition, where):
    if not condition:
        faults.append(f"{where}: the message is not as expected")


def check_programs(cnnc, folder):
    count = 0
    for path in sorted(Path(folder).glob("*.cnn")) + sorted(Path(folder).glob("*.ir")):
        count += len(check(cnnc, path.name, [str(path), "-o", "/dev/null"]))
    return count


NET = "net n {{ {} }}\ntrain {{ optimizer = sgd(lr = 1) }}\n"


def check_command(cnnc, folder):
    """Errors of options and files; warnings; budgets; many errors; no message."""
    good = f"{folder}/Inputs/chain.cnn"
    kept = check(cnnc, "option", ["--bacth", "3", good])
    expect([m[:3] for m in kept] == [["error", None, "unknown option '--bacth'; did you mean "
                                      "'--batch'?"]], "option")
    expect(check(cnnc, "value", ["--mode", "x", good])[0][0] == "error", "value")
    expect("No such file" in check(cnnc, "no file", ["/nowhere/x.cnn"])[0][2], "no file")
    expect("can't write" in check(cnnc, "full", [good, "--mode", "infer", "-o", "/dev/full"])[0][2],
           "full")
    kept = check(cnnc, "warning", [good, "--mode", "infer", "--ghost", "--checkpoint", "off", "-o",
                                   "/dev/null"])
    expect([m[0] for m in kept] == ["warning", "warning"], "warning")
    expect(check(cnnc, "good", [good, "--mode", "infer", "-o", "/dev/null"]) == [], "good")
    kept = check(cnnc, "budget", [f"{folder}/../../examples/lenet/lenet.cnn", "--budget", "1MiB",
                                  "-o", "/dev/null"])
    expect(kept[0][0] == "error" and any("\n" in m[2] for m in kept[1:]), "budget")
    status, text = run(cnnc, [good, "--time"], "json")
    expect(status == 2 and "--diagnostics text" in json.loads(text)[0]["message"], "--time")
    status, text = run(cnnc, ["x.cnn", "--diagnostics", "xml"], None)
    expect(status == 2 and b"it is one of text, json, sarif" in text, "xml")


def check_names(cnnc, work):
    """Names that JSON and URIs must escape."""
    many = NET.format("\n".join(f"x{i} = nothing_{i}" for i in range(25)))
    names = ['quo"te.cnn', "back\\slash.cnn", "tab\there.cnn", "\x01\x1f\x7f.cnn", "a b%c#d?.cnn",
             os.fsdecode(b"\xff\xc3.cnn"), "\u00e4\u2713.cnn"]
    for name in names:
        path = Path(work, name)
        path.write_text(many)
        kept = check(cnnc, repr(name), [str(path)])
        expect(len(kept) == 21 and kept[20][0] == "note", repr(name))
        path.write_bytes(b"net n {\n    # \xff\xfe\n    input \xc3\xa4 : f32[3]\n"
                         b'    y = "\xff" -> conf\n}\n')
        check(cnnc, repr(name), [str(path)])
        path.unlink()
        kept = check(cnnc, repr(name), [name], cwd=work)
        expect(len(kept) == 1 and kept[0][1] is None, repr(name))
    return len(names)


def main():
    cnnc, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    count = check_programs(cnnc, folder)
    check_command(cnnc, folder)
    with tempfile.TemporaryDirectory() as work:
        names = check_names(cnnc, work)
        corruptions = check_power(cnnc, work)
    print(*faults[:20], sep="\n", end="\n" if faults else "")
    print(f"{count} messages of programs, {names} names, {corruptions} corrupted logs, "
          f"{len(faults)} faults")
    return 1 if faults or count < 300 else 0


sys.exit(main())
