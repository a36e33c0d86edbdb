#!/usr/bin/env python3
"""The shards of the long tests: check_shards.py SHARD BUILD

Together they are the long tests of BUILD, each once, and none is much longer
than another.  Then on tests made here: what fails, fails the shard; what the
time does not suffice for is stopped, named and a failure; a commit chooses
always the same shard, and every shard is chosen by some commit.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

shard, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
faults = []


def expect(truth, what):
    if not truth:
        faults.append(what)


def run(*arguments):
    done = subprocess.run([shard, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def listed(text):
    """The tests of each shard, and its seconds."""
    shards = []
    for line in text.splitlines():
        head = re.match(r"shard \d+ of \d+: \d+ tests, (\d+) s$", line)
        if head:
            shards.append((float(head[1]), []))
        elif line.startswith("    "):
            shards[-1][1].append(line.strip())
    return shards


def check_cover(folder, tests, *options):
    """A test in no shard, or in two, would be found here."""
    status, text = run(folder, "--list", *options)
    shards = listed(text)
    found = sorted(t for _, names in shards for t in names)
    expect(status == 0 and found == sorted(tests), f"{folder}: not each test once")
    for number in sorted({1, len(shards) // 2, len(shards)}):
        alone = listed(run(folder, "--list", "--shard", number, *options)[1])
        expect(len(alone) == 1 and alone[0] == shards[number - 1], f"shard {number} is not itself")
    return shards


def long_tests(folder):
    out = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [t["name"] for t in json.loads(out[out.index("{"):])["tests"]
            if any(p["name"] == "LABELS" and "long" in p["value"] for p in t["properties"])]


def make_tests(folder, tests):
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w") as file:
        for name, label, script in tests:
            file.write(f'add_test({name} "sh" "-c" "{script}")\n'
                       f"set_tests_properties({name} PROPERTIES LABELS {label}"
                       " SKIP_RETURN_CODE 77)\n")


def check_dealing(folder):
    """Sixty tests of known and unknown length, in shards of twenty-four minutes of a processor."""
    tests = [(f"deal.{i}", "long", "exit 0") for i in range(60)]
    make_tests(folder, [*tests, ("quick.one", "quick", "exit 0")])
    costs = os.path.join(folder, "costs.txt")
    with open(costs, "w") as file:
        file.writelines(f"deal.{i} {100 + 10 * i}\n" for i in range(40))
    shards = check_cover(folder, [name for name, *_ in tests], "--costs", costs)
    loads = [seconds for seconds, _ in shards]
    expect(len(shards) == 13, f"{len(shards)} shards, not 13")
    expect(max(loads) - min(loads) <= 295, f"shards of {min(loads)} to {max(loads)} s")
    chosen = set()
    for number in range(2 * len(shards)):
        commit = f"{number + 0xabc:040x}"
        texts = [run(folder, "--commit", commit, "--costs", costs)[1] for _ in range(2)]
        heads = [re.search(r"^shard (\d+) of 13: .*once more: testsuite/run shard \1$", text,
                           re.MULTILINE) for text in texts]
        expect(all(heads) and heads[0][1] == heads[1][1], f"{commit}: {texts}")
        chosen |= {h[1] for h in heads if h}
    expect(len(chosen) == len(shards), f"commits choose {sorted(chosen)} alone")
    expect(run(folder, "--shard", 14, "--costs", costs)[0] == 2, "shard 14 of 13 is accepted")


def check_running(folder):
    costs = os.path.join(folder, "costs.txt")
    options = ("--shard", 1, "--jobs", 1, "--costs", costs)
    open(costs, "w").close()
    make_tests(folder, [("good", "long", "exit 0"), ("absent", "long", "exit 77"),
                        ("quick", "quick", "exit 1")])
    status, text = run(folder, *options)
    expect(status == 0 and "tests not run" not in text, f"good tests fail: {text}")
    make_tests(folder, [("good", "long", "exit 0"), ("bad", "long", "exit 1")])
    expect(run(folder, *options)[0] == 1, "a bad test passes")
    make_tests(folder, [(name, "long", "sleep 20") for name in ("a.1", "a.2", "a.3")])
    begun = time.time()
    status, text = run(folder, *options, "--until", int(begun) + 4)
    expect(time.time() - begun < 15, "the limit of time is no limit")
    expect(status == 1 and "2 of 3 tests not run:\n    a.2\n    a.3" in text,
           f"what was not run goes unsaid: {text}")
    status, text = run(folder, *options, "--until", int(begun) - 1)
    expect(status == 1 and "    a.1\n    a.2\n    a.3" in text, "no time is time enough")


def main():
    tests = long_tests(build)
    shards = check_cover(build, tests)
    with tempfile.TemporaryDirectory() as folder:
        check_dealing(folder)
        check_running(folder)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(tests)} long tests in {len(shards)} shards, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
