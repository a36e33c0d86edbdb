#!/usr/bin/env python3
"""Whatever ends a run, its files are whole: as they were, or new.

    check_whole.py CNNC LIBHOST NET.cnn KILLS SEED

A run saves its state after every training step, and makes the calls that a loss of power requires,
in that order.  It is killed in each call that touches a file, and KILLS times at random; each such
call fails; the disk is full, files may not grow; signals come.  After each the files are ones that
an undisturbed run had at some time, and no other file is left. The run goes on to the bytes of the
undisturbed one.  Cut or damaged states are refused.  Faults are planted to show that this would be
noticed.
"""
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import mutants_of  # noqa: E402
from saving import (build, build_shim, bytes_of, enter_folder, expect, kept, leave_folder,
                    make_data, no_leftovers, run, sections, without_speed)  # noqa: E402

FILES = ["weights", "best", "state"]
OLD = b"as it was"
undisturbed = {}        # the end of each file
allowed = {}            # all states of each; None: it is not there
data = []


EPOCHS = 2 if int(sys.argv[4]) >= 100 else 1


def command(epochs=EPOCHS, resume=False):
    return ["./small", "train", "--epochs", str(epochs), "--seed", "3", *data,
            "--save", "weights", "--best", "best", "--log", "log", "--save-state", "state",
            "--save-every", "1", *(["--resume", "state"] if resume else [])]


def start_anew():
    for path in FILES + ["log"]:
        if os.path.exists(path):
            os.remove(path)
    for path in ["weights", "best"]:
        with open(path, "wb") as out:
            out.write(OLD)


def present(path):
    return bytes_of(path) if os.path.exists(path) else None


def junk():
    """Files that are neither as they were nor as the undisturbed run had them."""
    return [path for path in FILES if present(path) not in allowed[path]]


def go_on(what, epochs=EPOCHS):
    """The run goes on, or begins again where no state was saved, to the same bytes."""
    expect(not junk(), f"{what}: {junk()} are junk")
    run(command(epochs, resume=os.path.exists("state")))
    no_leftovers(f"{what}, and the next run")
    for path in FILES:
        expect(bytes_of(path) == undisturbed[path], f"{what}: {path} ends differently")
    expect(without_speed(bytes_of("log")) == undisturbed["log"], f"{what}: log ends differently")


def run_undisturbed(epochs):
    start_anew()
    for path in os.listdir("kept"):
        os.remove("kept/" + path)
    began = time.monotonic()
    run(command(epochs), keep="kept", trace="trace")
    took = time.monotonic() - began
    for path in FILES:
        undisturbed[path] = bytes_of(path)
        allowed[path] = {data for _, data in kept("kept", path)}
        allowed[path].add(None if path == "state" else OLD)
    undisturbed["log"] = without_speed(bytes_of("log"))
    return trace_of("trace"), took


def trace_of(path):
    """The calls that the shim has seen, which are then forgotten."""
    with open(path, encoding="ascii") as trace:
        calls = trace.read().splitlines()
    os.remove(path)
    return calls


# ---- their order ---------------------------------------------------------------------

# A file whose folder may be written to is opened and closed; one that is saved is on disk
# before it has its name, and its name is before anything follows.
ORDER = re.compile(r"(open fclose )*"
                   r"(open (fwrite )+fflush fsync fclose rename fsync folder )+")


def is_ordered(calls):
    return ORDER.fullmatch(" ".join(calls) + " ") is not None


def check_order(calls, cnnc, libhost, net):
    saves = calls.count("rename")
    expect(saves >= EPOCHS and is_ordered(calls), f"saved otherwise: {calls}")
    faults = mutants_of("saving.whole")
    edits = [(re.escape(edit.old), edit.new.replace("@", f'!strcmp(getenv("PLANTED"), "{number}")'))
             for number, fault in enumerate(faults) for edit in fault.edits]
    build(cnnc, libhost, net, [], "unordered", edits)
    for number, name in enumerate([fault.name for fault in faults] + ["nothing"]):
        start_anew()
        os.environ["PLANTED"] = str(number)
        run(["./unordered", *command()[1:]], status=None, trace="trace")
        expect(is_ordered(trace_of("trace")) == (name == "nothing"), f"planted: {name}")
    print(f"{saves} files are on disk before they have their names; {len(faults)} faults found")


# ---- every call ------------------------------------------------------------------------

def kill_in_each_call(calls):
    for at in range(1, len(calls) + 1):
        start_anew()
        run(command(), status=-signal.SIGKILL, at=at, do="kill")
        go_on(f"killed in call {at}, {calls[at - 1]}")
    print(f"killed in each of {len(calls)} calls")


def fail_each_call(calls):
    for at, call in enumerate(calls, 1):
        start_anew()
        done = run(command(), status=1, at=at, do="fail")
        what = f"call {at}, {call}, failed"
        said = "its folder can't be synced" if call == "fsync folder" else "can't be written"
        expect(f"{said}: No space left on device" in done.stderr, f"{what}: {done.stderr}")
        no_leftovers(what)
        go_on(what)
    print(f"each of {len(calls)} calls failed")


def interrupt_each_call(calls):
    """One SIGINT lets the run save and say so, two end it at once."""
    count = [0, 0]
    for at, call in enumerate(calls, 1):
        if call not in ("fsync", "rename"):
            continue
        start_anew()
        run(command(), status=-signal.SIGINT, at=at, do="int")
        go_on(f"two SIGINT in call {at}, {call}")
        start_anew()
        done = run(command(), status=None, at=at, do="stop")
        said = "stopped by SIGINT after epoch " in done.stdout
        expect(done.returncode in (-signal.SIGINT, 0, 130) and said == (done.returncode == 130),
               f"one SIGINT in call {at}, {call}: status {done.returncode}: {done.stdout}")
        expect(not said or os.path.exists("state"), "nothing was saved")
        go_on(f"one SIGINT in call {at}, {call}")
        count[said] += 1
    expect(count[True] > 0, "no SIGINT stopped a run")
    print(f"a SIGINT in {sum(count)} calls: {count[True]} stopped the run; two ended it at once")


STEP = "if (!take_step(run, s)) return false;"
SAVES = "if (path && !save_run(t->net, path, p, &run->state)) return false;"
STOPPED = re.compile("stopped by SIGINT after epoch 0 and 4 samples of [0-9]+: the state is in state,")


def interrupt_a_step(cnnc, libhost, net):
    """A SIGINT in the first training step: the step ends, is saved, and the run says so."""
    build(cnnc, libhost, net, [], "interrupted",
          [(re.escape(STEP), "raise(SIGINT);\n    " + STEP),
           (re.escape(SAVES), SAVES.replace("path &&", 'path && !getenv("PLANTED_STOP") &&'))])
    program = ["./interrupted", *command()[1:]]
    at = program.index("--save-every")
    del program[at:at + 2]
    start_anew()
    os.environ["PLANTED_STOP"] = "1"
    run(program, status=130)
    expect(not os.path.exists("state"), "planted: a run that is stopped saves all the same")
    del os.environ["PLANTED_STOP"]
    start_anew()
    done = run(program, status=130)
    expect(STOPPED.search(done.stdout) and os.path.exists("state"),
           f"a SIGINT in a training step: {done.stdout}")
    go_on("a SIGINT in a training step")
    print("a SIGINT in a training step: it ends, and is saved")


def plant_writes_in_place(calls):
    """Without a second file, a state is junk when its writing stops half way."""
    found = 0
    for at, call in enumerate(calls, 1):
        if call == "fwrite":
            start_anew()
            run(command(), status=None, at=at, do="kill", in_place=1)
            found += bool(junk())
    expect(found >= calls.count("fwrite") // 2, f"only {found} half-written files are noticed")
    print(f"planted: {found} of {calls.count('fwrite')} half-written files are noticed")


# ---- the system's own limits -------------------------------------------------------------

def limit_sizes():
    """Files may not grow past each boundary of the state's sections, nor to its end."""
    ends = [offset for _, offset, _ in sections(undisturbed["state"])]
    limits = [1, 40, *ends, len(undisturbed["state"]) - 1]
    for limit in limits:
        start_anew()
        done = subprocess.run(
            command(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                              (limit, limit)))
        what = f"files of at most {limit} bytes"
        expect(done.returncode == 1 and "can't be written: File too large" in done.stderr,
               f"{what}: status {done.returncode}: {done.stderr}")
        no_leftovers(what)
        go_on(what)
    print(f"{len(limits)} limits of size")


FULL = """
mkdir full && mount -t tmpfs -o size=$1 tmpfs full || exit 77
cp state full/state
shift
"$@" --save-state full/state --resume full/state 2>said
echo "status $?" >>said
ls -A full >>said
cmp state full/state >>said
"""


def fill_disk():
    """A disk with room for one state and not for a second; root alone can make one."""
    start_anew()
    run(command(1))
    page = os.sysconf("SC_PAGE_SIZE")
    room = (len(undisturbed["state"]) + page - 1) // page * page + page
    subprocess.run(["unshare", "-m", "sh", "-c", FULL, "sh", str(room), "./small", "train",
                    "--epochs", "2", *data], stdout=subprocess.DEVNULL, check=False)
    if not os.path.exists("said"):
        print("no disk can be made here, which takes root: a full one is left out")
        return
    said = bytes_of("said").decode()
    expect(said == "small: full/state: can't be written: No space left on device\nstatus 1\nstate\n",
           f"a full disk: {said}")
    print("a full disk")


# ---- at random -----------------------------------------------------------------------------

def disturb_at_random(kills, draw, number, epochs):
    """A signal at a random moment; how often the run had saved, and had not ended."""
    _, took = run_undisturbed(epochs)
    seen = 0
    for i in range(kills):
        start_anew()
        process = subprocess.Popen(command(epochs), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        # One of four at any moment, the others after the first save.
        while i % 4 and process.poll() is None and not os.path.exists("state"):
            time.sleep(0.0005)
        time.sleep(draw.uniform(0, took if i % 4 == 0 else took / 2))
        process.send_signal(number)
        status = process.wait()
        # Before the run has begun the signal ends it as it ends any program.
        expect(status in ([0, -number] if number == signal.SIGKILL else [0, -number, 128 + number]),
               f"signal {number}: status {status}")
        seen += status != 0 and os.path.exists("state")
        go_on(f"signal {number}, number {i + 1}", epochs)
    print(f"signal {number} at {kills} random moments, {seen} of them between two saves")
    return seen


# ---- damaged states --------------------------------------------------------------------------

def refuse_damaged(draw, flips):
    start_anew()
    run(command(1))
    whole = bytes_of("state")
    log = bytes_of("log")
    ends = [0, 48] + [offset for _, offset, _ in sections(whole)]
    damaged = [whole[:end] for end in ends] + [whole[:-1], whole + b"\0"]
    for _ in range(flips):
        spoilt = bytearray(whole)
        bit = draw.randrange(8 * len(whole))
        spoilt[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(spoilt))
    for state in damaged:
        with open("damaged", "wb") as out:
            out.write(state)
        done = run(["./small", "train", *data, "--resume", "damaged", "--save-state", "state",
                    "--save", "weights", "--log", "log"], status=1)
        expect(done.stderr.startswith("small: damaged: ") and done.stderr.count("\n") == 1,
               done.stderr)
        expect("epoch" not in done.stdout, done.stdout)
        expect(bytes_of("state") == whole and bytes_of("log") == log, "a refused state changed files")
    no_leftovers("refused states")
    print(f"{len(ends) + 2} cut states and {flips} with a bit flipped are refused")


def main():
    cnnc, libhost, net = [os.path.abspath(path) for path in sys.argv[1:4]]
    kills, draw = int(sys.argv[4]), random.Random(int(sys.argv[5]))
    folder = enter_folder()
    build_shim()
    build(cnnc, libhost, net, [], "small")
    data.extend(make_data("small", 1, "data"))
    os.mkdir("kept")
    calls, _ = run_undisturbed(EPOCHS)
    check_order(calls, cnnc, libhost, net)
    kill_in_each_call(calls)
    fail_each_call(calls)
    interrupt_each_call(calls)
    interrupt_a_step(cnnc, libhost, net)
    plant_writes_in_place(calls)
    limit_sizes()
    fill_disk()
    refuse_damaged(draw, 2 * kills)
    seen = disturb_at_random(kills, draw, signal.SIGKILL, 30)
    expect(seen >= kills // 4, "too few kills came while the run saved")
    disturb_at_random(kills // 4, draw, signal.SIGINT, 30)
    disturb_at_random(kills // 4, draw, signal.SIGTERM, 30)
    leave_folder(folder)


if __name__ == "__main__":
    main()
