#!/usr/bin/env python3
"""Two network namespaces stand for two machines: they share nothing but a pair of interfaces.

usage: check_machines.py MACHINE START

MACHINE is a rank that adds numbers; START is a process of the trainer's start of ranks. Ranks find
each other at the address of the first interface, which is neither the loopback nor docker's. If the
interface goes down, all ranks end within LOST seconds. Needs root; exits 77 where the system forbids
namespaces.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOST = 7        # seconds: five without an answer, and the time to notice
NAMES = [f"cnnc{os.getpid()}{side}" for side in "ab"]
ADDRESSES = "10.77.0.1", "10.77.0.2"


def ip(*words):
    done = subprocess.run(["ip", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.returncode == 0 or print(f"ip {' '.join(words)}: {done.stdout.strip()}")


def make_machines():
    """True if both are there, joined by a pair of interfaces."""
    made = all(ip("netns", "add", name) for name in NAMES) and \
        ip("link", "add", "eth0", "netns", NAMES[0], "type", "veth",
           "peer", "name", "eth0", "netns", NAMES[1])
    for name, address in zip(NAMES, ADDRESSES):
        made = made and ip("-n", name, "link", "set", "lo", "up") and \
            ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0") and \
            ip("-n", name, "link", "set", "eth0", "up")
    return made and subprocess.run(["ip", "netns", "exec", NAMES[0], "true"]).returncode == 0


def start(machine, words, **environment):
    return subprocess.Popen(["ip", "netns", "exec", NAMES[machine], *words], text=True,
                            env={**os.environ, **environment}, stdout=subprocess.PIPE)


def ends_well(processes):
    """Waits for all; their texts, if each has status 0."""
    texts = [process.communicate(timeout=60)[0] for process in processes]
    if any(process.returncode for process in processes):
        print("WRONG:", *(f"status {p.returncode}: {t}" for p, t in zip(processes, texts)))
        return None
    return texts


def sums(machine, folder):
    ranks = [start(rank % 2, [machine, str(rank), "3", f"{folder}/id", "sum"]) for rank in range(3)]
    return ends_well(ranks) is not None


def ends_without_network(machine, folder):
    path = f"{folder}/other"
    ranks = [start(rank, [machine, str(rank), "2", path, "lost"]) for rank in range(2)]
    for rank in ranks:
        rank.stdout.readline()
    Path(f"{path}.lost").touch()
    ip("-n", NAMES[1], "link", "set", "eth0", "down")
    texts = ends_well(ranks)
    ip("-n", NAMES[1], "link", "set", "eth0", "up")
    seconds = [float(re.search(r"([\d.]+) seconds", text)[1]) for text in texts or []]
    print("ended after", *seconds, "seconds")
    return len(seconds) == 2 and max(seconds) < LOST


def starts(program):
    """The trainer's ranks trade their blob between machines."""
    ranks = [start(rank, [program, "join"], RANK=str(rank), LOCAL_RANK="0", WORLD_SIZE="2",
                   MASTER_ADDR=ADDRESSES[0], MASTER_PORT="29517") for rank in range(2)]
    texts = ends_well(ranks)
    return texts is not None and texts[0] == texts[1]


def main(machine, program):
    try:
        if os.geteuid() != 0 or not make_machines():
            print("no network namespaces here")
            return 77
        with tempfile.TemporaryDirectory() as folder:
            good = [sums(machine, folder), starts(program), ends_without_network(machine, folder)]
        print(good)
        return 0 if all(good) else 1
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
