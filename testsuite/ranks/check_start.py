#!/usr/bin/env python3
"""The trainer's start of ranks: the place of a process from its environment, and real processes
that meet on the loopback.

usage: check_start.py START
"""
import os
import socket
import subprocess
import sys
import time

TORCH = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "gpu7",
         "MASTER_PORT": "29400"}
AGENT = {**TORCH, "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": "none"}
SLURM = {"SLURM_PROCID": "5", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1", "SLURM_STEP_ID": "0",
         "SLURM_JOB_ID": "123456", "SLURM_STEP_NODELIST": "gpu[03-05,7],login"}
MPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
       "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
PMI = {"PMI_RANK": "1", "PMI_SIZE": "4", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2",
       "MASTER_ADDR": "here", "MASTER_PORT": "5"}


def without(variables, *names):
    return {name: value for name, value in variables.items() if name not in names}


# The environment, and the place: rank, local number, count, address, port.
PLACES = [
    ({}, "0 0 1  0"),
    ({"MASTER_ADDR": "gpu7", "SLURM_NTASKS": "4", "LOCAL_RANK": "1"}, "0 0 1  0"),
    (TORCH, "3 1 8 gpu7 29400"),
    (AGENT, "3 1 8 gpu7 29401"),
    ({**AGENT, "TORCHELASTIC_USE_AGENT_STORE": "False"}, "3 1 8 gpu7 29400"),
    ({**without(TORCH, "MASTER_ADDR", "MASTER_PORT"), "LOCAL_WORLD_SIZE": "8"},
     "3 1 8 127.0.0.1 29500"),
    ({"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}, "0 0 1  0"),
    (SLURM, "5 1 8 gpu03 23456"),
    ({**SLURM, "SLURM_STEP_NODELIST": "a[1-2]b[3,4]"}, "5 1 8 a1b3 23456"),
    ({**SLURM, "SLURM_STEP_NODELIST": "one"}, "5 1 8 one 23456"),
    ({**without(SLURM, "SLURM_STEP_NODELIST"), "SLURM_JOB_NODELIST": "x1,x2"}, "5 1 8 x1 23456"),
    ({**SLURM, "MASTER_ADDR": "gpu9", "MASTER_PORT": "77"}, "5 1 8 gpu9 77"),
    ({**without(SLURM, "SLURM_STEP_ID"), "SLURM_PROCID": "0", "SLURM_NTASKS": "1",
      "SLURM_LOCALID": "0"}, "0 0 1  0"),
    (MPI, "1 1 2 127.0.0.1 29500"),
    ({**MPI, "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
      "MASTER_ADDR": "gpu1"}, "1 0 2 gpu1 29500"),
    (PMI, "1 0 4 here 5"),
    # torchrun, mpirun and mpiexec in a step of Slurm: its numbers are those of machines.
    ({**SLURM, **AGENT}, "3 1 8 gpu7 29401"),
    ({**SLURM, **MPI}, "1 1 2 127.0.0.1 29500"),
    ({**SLURM, **TORCH, "RANK": "5"}, "5 1 8 gpu7 29400"),
]
# The environment, and words of the complaint.
REFUSALS = [
    (without(TORCH, "RANK"), "RANK: wanted a whole number of 0 to 7, and it is not set"),
    (without(TORCH, "WORLD_SIZE"), "WORLD_SIZE: wanted a whole number of 1 to 65536, and it is not"),
    (without(TORCH, "LOCAL_RANK"), "LOCAL_RANK: wanted a whole number of 0 to 7, and it is not set"),
    (without(TORCH, "MASTER_ADDR"), "MASTER_ADDR: wanted the address of rank 0's machine"),
    ({**TORCH, "RANK": "8"}, "RANK=8: wanted a whole number of 0 to 7"),
    ({**TORCH, "RANK": "1x"}, "RANK=1x: wanted a whole number of 0 to 7"),
    ({**TORCH, "WORLD_SIZE": ""}, "WORLD_SIZE=: wanted a whole number of 1 to 65536"),
    ({**TORCH, "MASTER_PORT": "0"}, "MASTER_PORT=0: wanted a whole number of 1 to 65535"),
    ({**AGENT, "MASTER_PORT": "65535"}, "MASTER_PORT=65535: wanted a whole number of 1 to 65534"),
    ({**TORCH, "LOCAL_WORLD_SIZE": "1"}, "LOCAL_WORLD_SIZE=1: wanted a whole number of 2 to 8"),
    ({**TORCH, "MASTER_ADDR": "x" * 300}, "wanted fewer than 256 characters"),
    ({**SLURM, **TORCH}, "RANK=3 and WORLD_SIZE=8, but SLURM_PROCID=5 and SLURM_NTASKS=8 of Slurm"),
    ({**TORCH, **MPI}, "OMPI_COMM_WORLD_RANK=1 and OMPI_COMM_WORLD_SIZE=2 of Open MPI: wanted equal"),
    (without(SLURM, "SLURM_STEP_ID"), "SLURM_NTASKS=8, and SLURM_STEP_ID is not set: wanted a start"),
    (without(SLURM, "SLURM_NTASKS"), "SLURM_NTASKS: wanted a whole number"),
    (without(SLURM, "SLURM_JOB_ID"), "SLURM_JOB_ID: wanted a whole number"),
    ({**SLURM, "SLURM_STEP_NODELIST": "gpu[03"}, "SLURM_STEP_NODELIST=gpu[03: wanted a list of"),
    ({**MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "0"},
     "MASTER_ADDR: wanted the address of rank 0's machine"),
    (without(PMI, "MPI_LOCALRANKID"), "MPI_LOCALRANKID: wanted a whole number"),
]
STARTERS = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "SLURM_", "OMPI_", "PMI_", "MPI_",
            "TORCHELASTIC_")
faults = []


def environment(variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STARTERS)}
    return {**kept, **variables}


def check(good, *words):
    if not good:
        faults.append(words)
        print("WRONG:", *words)


def check_places(program):
    for variables, wanted in PLACES:
        done = subprocess.run([program, "place"], env=environment(variables), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.stdout.strip() == wanted and not done.stderr, variables, wanted, done)
    for variables, words in REFUSALS:
        done = subprocess.run([program, "place"], env=environment(variables), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 1 and words in done.stderr, variables, words, done)
        check(done.stderr.count("\n") == 1 and not done.stdout, "one line:", done)


def free_port(count=1):
    """The first of this many ports that nobody uses."""
    while True:
        sockets = [socket.socket() for _ in range(count)]
        try:
            sockets[0].bind(("127.0.0.1", 0))
            port = sockets[0].getsockname()[1]
            for i in range(1, count):
                sockets[i].bind(("127.0.0.1", port + i))
            return port
        except (OSError, OverflowError):
            pass
        finally:
            for each in sockets:
                each.close()


class Ranks:
    """Processes that meet. `changes` are the variables of some ranks."""

    def __init__(self, program, count, **variables):
        self.program = program
        self.variables = {"WORLD_SIZE": str(count), "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
                          "MASTER_PORT": str(free_port()), **variables}
        self.processes = []

    def start(self, rank, **changes):
        variables = {**self.variables, "RANK": str(rank), **changes}
        self.processes.append(subprocess.Popen(
            [self.program, "join"], env=environment(variables), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE))
        return self

    def end(self):
        """The status, the output and the complaint of each."""
        return [(p.communicate(timeout=30), p.returncode) for p in self.processes]

    def meet(self, *words):
        results = self.end()
        texts = {out for (out, _), _ in results}
        check(all(not status for _, status in results) and len(texts) == 1 and
              len(texts.pop()) == 257, *words, results)

    def refuse(self, words):
        """Each rank says these words."""
        for (out, said), status in self.end():
            check(status == 1 and not out and words in said, words, said)


def check_meetings(program):
    all_ranks = Ranks(program, 5)
    for rank in range(1, 5):
        all_ranks.start(rank)
    time.sleep(0.2)
    all_ranks.start(0).meet("rank 0 is the last")
    Ranks(program, 2, MASTER_ADDR="localhost").start(0).start(1).meet("by name")
    Ranks(program, 2, MASTER_ADDR=socket.gethostname()).start(0).start(1).meet("by host name")
    ranks = Ranks(program, 3).start(0).start(2, START_FINGERPRINT="8")
    time.sleep(0.2)
    ranks.start(1).refuse(
        "start: ranks 0 and 2 have fingerprints 0000000000000007 and 0000000000000008: wanted one")
    Ranks(program, 3, START_SECONDS="0.5").start(0).start(1).refuse(
        "start: rank 2 did not come to rank 0 at 127.0.0.1, port ")
    Ranks(program, 3, START_SECONDS="0.5").start(0).start(1, WORLD_SIZE="4").refuse(
        "rank 0 is one of 3 ranks, and rank 1 one of 4: wanted one number")
    Ranks(program, 3, START_SECONDS="0.5").start(0).start(1).start(1).refuse("two processes are rank 1 of 3")
    Ranks(program, 2, START_SECONDS="0.3").start(1).refuse(
        "rank 1 can't reach rank 0 at 127.0.0.1, port ")


def check_deaths(program):
    ranks = Ranks(program, 4, START_SECONDS="1").start(0).start(2).start(1)
    time.sleep(0.3)
    ranks.processes.pop().kill()
    ranks.refuse("rank 1 has ended before all ranks had come")
    ranks = Ranks(program, 3).start(1).start(0)
    time.sleep(0.3)
    ranks.processes.pop().kill()
    ranks.refuse("rank 1 has no answer of rank 0")


def check_ports(program):
    """The agent of torchrun listens at MASTER_PORT, strangers connect, another program listens."""
    port = free_port(2)
    with socket.create_server(("127.0.0.1", port)):
        Ranks(program, 2, MASTER_PORT=str(port), TORCHELASTIC_USE_AGENT_STORE="True") \
            .start(0).start(1).meet("an agent's port")
        Ranks(program, 2, MASTER_PORT=str(port)).start(0).refuse(
            f"rank 0 can't listen at port {port} for other ranks: Address already in use")
    ranks = Ranks(program, 2).start(0)
    time.sleep(0.2)
    with socket.create_connection(("127.0.0.1", int(ranks.variables["MASTER_PORT"]))) as stranger:
        stranger.sendall(b"GET / HTTP/1.0\r\n\r\n" + bytes(100))
        ranks.start(1).meet("a stranger")


def main(program):
    check_places(program)
    check_meetings(program)
    check_deaths(program)
    check_ports(program)
    print(f"{len(PLACES)} places, {len(REFUSALS)} refusals, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
