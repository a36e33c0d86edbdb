#!/usr/bin/env python3
"""Maps in host memory change no bit of the results of a net.

    check_offloaded.py BUILD NET.cnn COUNT [OPTION...] [--planted]

OPTIONs are cnnc's, or of golden/examples.txt; where nothing is saved at their batch, it is doubled
until something is. The budgets are the smallest arena that --offload has for the net, and others
between that and the whole. COUNT - 1 others are drawn by the net's name. Each plan is sound and
within its budget, and copies return from where they went. Figures, weights and the optimizer's
state after three training steps equal, in bytes, those of the net without a budget. Streams run at
once, every step is checked against the plan, dead bytes are NaN, and a step changes only its own
bytes. Streams also defer, so that a copy that nothing waits for is missing.

--planted: faults wait in the emitted file for their number in PLANTED. Each must show.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "checkpoint")]
import plan_check  # noqa: E402
from budgets import draw  # noqa: E402

CXX = os.environ.get("CXX", "clang++")

build, net, count, *words = sys.argv[1:]
planted = "--planted" in words
words = [word for word in words if word != "--planted"]
for word in "--samples", "--seed", "--deep":
    if word in words:
        del words[words.index(word):words.index(word) + 2]
cnnc = os.path.join(build, "cnnc")
host = os.path.join(TESTS, "..", "runtime", "host")

# Text of the emitted file, as a pattern, and the replacement; @ is whether the fault
# is planted. Shown where streams run at once, or where they defer.
AWAIT = r"( COPY\(\d+, await_copy, a\[%s\], .*?\);)"
FAULTS = {
    "nobody waits for a copy out":
        (AWAIT % r"\w+(?<!_back)", r"if (!(@))\1", "defer"),
    "nobody waits for a copy in":
        (AWAIT % r"\w+_back", r"if (!(@))\1", "defer"),
    "a wait is for another copy's event":
        (r"c->host\.events\[event\]", "c->host.events[@ ? 0 : event]", "defer"),
    "a copy comes back from another place":
        (r"return begin_copy\(c, step, tensor, \(unsigned char \*\)c->host\.memory \+ place,",
         "return begin_copy(c, step, tensor, (unsigned char *)c->host.memory + "
         "(@ && place > 0 ? 0 : place),", "at once"),
    "a copy comes back too short":
        (r"(copy_in\(.*\n\{)", r"\1\n    if (@) bytes -= bytes / 4;", "at once"),
    "all copies out go to one place":
        (r"(copy_out\(.*\n.*\n\{)", r"\1\n    if (@) place = 0;", "at once"),
    "a copy back is never begun":
        (r"(static int copy_in\(.*\n\{)", r"\1\n    if (@) return await_copy(c, step, tensor, event);",
         "at once"),
}


MOST_SAMPLES = 128


def compile_net(*options):
    return subprocess.run([cnnc, *words, *options, net], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def plan_of(*options):
    done = compile_net("--emit", "plan", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def smallest():
    done = compile_net("--emit", "plan", "--offload", "--budget", "1")
    return int(re.search(r"smallest arena found for it.* has (\d+) bytes", done.stderr)[1])


class Net:
    def __init__(self, folder):
        self.folder, self.batch = folder, None

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, *options, edits=()):
        """The program of these options, and its plans next to it."""
        done = compile_net("--main", *options)
        assert done.returncode == 0, done.stderr
        text = done.stdout
        for number, (old, new) in enumerate(edits, 1):
            new = new.replace("@", f'(getenv("PLANTED") && atoi(getenv("PLANTED")) == {number})')
            text, found = re.subn(old, new, text, flags=re.S if "COPY" in old else 0)
            assert found, f"there is no {old}"
        with open(self.path(name + ".cu"), "w") as file:
            file.write("#include <stdlib.h>\n" + text)
        for mode in "train", "eval":
            with open(self.path(f"{name}.{mode}"), "w") as file:
                json.dump(plan_of("--mode", mode, *options), file)
        level = "-O" + os.environ.get("CNNC_HOST_O", "0")
        subprocess.run([CXX, "-std=c++17", level, "-w", "-I", host, "-x", "c++",
                        self.path(name + ".cu"), "-x", "none",
                        os.path.join(build, "libcnnc_host.a"), "-lpthread", "-o", self.path(name)],
                       check=True)

    def draw(self, name):
        tensors = subprocess.run([self.path(name), "info", "--tensors"], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        subprocess.run([os.path.join(build, "testsuite", "random_tensors"), "--seed", "5",
                        "--weights", self.path("weights"), "--batch", self.path("batch")],
                       input=tensors, text=True, check=True)

    def step(self, name, defer, plan, fault=0):
        """The bytes after three training steps; None where they fail."""
        environment = dict(os.environ, CNNC_HOST_DEFER=str(int(defer)), PLANTED=str(fault))
        if plan:
            environment["CNNC_HOST_PLAN"] = self.path(name + ".train") + ":" + \
                self.path(name + ".eval")
        if plan and not defer:
            environment["CNNC_HOST_CHECK"] = "writes"
        after = self.path("after")
        done = subprocess.run([self.path(name), "step", "--seed", "7", "--load",
                               self.path("weights"), "--batch", self.path("batch"), "--steps", "3",
                               "--save", after], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            self.said = done.stderr.strip().split("\n")[-1]
            return None
        with open(after, "rb") as file:
            return file.read()


def check_plan(plan, budget):
    """Faults of a plan with maps in host memory, and how many."""
    faults = plan_check.check(plan)[0]
    if plan["arena_bytes"] > budget:
        faults.append(f"the arena has {plan['arena_bytes']} bytes")
    out = {s["reads"][0]: s for s in plan["steps"] if s["op"] == "offload"}
    back = [s for s in plan["steps"] if s["op"] == "offload.fetch"]
    went = sorted((s["host"], plan["buffers"][k]["bytes"]) for k, s in out.items())
    came = sorted((s["host"], plan["buffers"][s["writes"][0]]["bytes"]) for s in back)
    if went != came:
        faults.append("what comes back is not what went")
    if went and max(at + size for at, size in went) != plan["host_bytes"]:
        faults.append("host memory ends elsewhere")
    return faults, len(back)


def check_budget(it, budget, wanted):
    options = "--offload", "--budget", str(budget)
    plan = plan_of(*options)
    faults, offloaded = check_plan(plan, budget)
    it.make("offloaded", *options)
    for defer, watched in (False, True), (True, True), (True, False):
        after = it.step("offloaded", defer, watched)
        if after is None:
            faults.append(f"defer {defer}, plan {watched}: {it.said}")
        elif after != wanted:
            faults.append(f"defer {defer}, plan {watched}: other bits")
    print(f"budget {budget}: {offloaded} maps in {plan.get('host_bytes', 0)} bytes of host memory",
          flush=True)
    for fault in faults:
        print("FAILED:", fault)
    return not faults, offloaded


def check_planted(it, budget, wanted):
    edits = [(old, new) for old, new, _ in FAULTS.values()]
    it.make("faulty", "--offload", "--budget", str(budget), edits=edits)
    failed = 0
    for number, (name, (_, _, when)) in enumerate([("nothing", ("", "", "defer")),
                                                   *FAULTS.items()]):
        after = it.step("faulty", when == "defer", False, number)
        shows = after != wanted
        failed += shows != (number > 0)
        print(f"{name}: {'the same bits' if not shows else 'fails' if after is None else 'other bits'}",
              flush=True)
    return failed == 0


def double_batch():
    batch = plan_of()["batch"]
    if "--batch" in words:
        del words[words.index("--batch"):words.index("--batch") + 2]
    words.extend(["--batch", str(2 * batch)])
    return 2 * batch


def main():
    with tempfile.TemporaryDirectory() as folder:
        it = Net(folder)
        whole, least = plan_of()["arena_bytes"], smallest()
        while whole == least and double_batch() <= MOST_SAMPLES:
            whole, least = plan_of()["arena_bytes"], smallest()
        if whole == least:
            print("nothing that goes to host memory saves anything: FAILED")
            return 1
        it.make("plain")
        it.draw("plain")
        wanted = it.step("plain", False, True)
        assert wanted, it.said
        if planted:
            return 0 if check_planted(it, least, wanted) else 1
        results = [check_budget(it, budget, wanted)
                   for budget in draw(os.path.basename(net), least, whole, int(count))]
        if not any(offloaded for _, offloaded in results):
            print("nothing goes to host memory: FAILED")
            return 1
        return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
