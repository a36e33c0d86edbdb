"""The rules of the plan's checker, each with the message that it refuses a plan with.

The rules are those that plans.rules takes out of the checker (mutants.txt).
"""
import os
import re
import shlex
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from mutants import mutants_of  # noqa: E402

FILES = ["verify_plan.c", "verify_replay.c", "verify_program.c", "verify_buffers.c"]


def groups():
    """A file and a message for each message with rules."""
    found = [(mutant.path, shlex.split(mutant.words)[0]) for mutant in mutants_of("plans.rules")]
    return list(dict.fromkeys(found))


# Messages that a stricter rule of verify_program.c gives instead: plans.rules needs them.
SHADOWED = {
    "step %d %s names no buffer", "%s has no type", "%s is not where a batch ends",
    "%s reads %s of the last batch alone", "%s writes %s again",
}


def rules_said():
    """The messages that corruptions can be refused with."""
    return [says for _, says in groups() if says not in SHADOWED]


def is_said(text, says, before=""):
    """True if the text has this message, after a match of `before`."""
    message = ".*".join(map(re.escape, re.split(r"%\w+", says)))
    return bool(re.search(before + message, text))


# Messages that no rule here gives, and why.
EXCEPTIONS = {
    ("verify_program.c", "a batch ends with %s"):
        "verify_plan.c has the end where updates begin, and the order of who touches the header "
        "has what ends a batch behind all that count its samples: any other end does no harm",
    ("verify_plan.c", "%s is the caller's, but in the arena"):
        "the plans that are corrupted have their inputs in the arena",
}

# The return of a checker's function: a text, or one that is printed.
LITERALS = r'((?:"(?:[^"\\]|\\.)*"|PRId64|\s)+)'
MESSAGE = re.compile(r"arena_print\(\w+->arena,\s*" + LITERALS + r"|return\s+(?=\")" + LITERALS)


def messages(text):
    """Returns the messages that a checker's file can return."""
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1] or match[2]))
            for match in MESSAGE.finditer(text)]


def unclaimed(root, claimed, exceptions=None):
    """Returns the mismatches of messages and of groups of rules, a line each."""
    claims = claimed + list(EXCEPTIONS if exceptions is None else exceptions)
    faults, used = [], set()
    for name in FILES:
        with open(os.path.join(root, "ir/verify", name), encoding="utf-8") as file:
            found = messages(file.read())
        for message in found:
            by = [claim for claim in claims if claim[0] == name and message.startswith(claim[1])]
            used.update(by)
            if len(by) != 1:
                faults.append(f"{name}: {len(by)} rows for the message {message}")
    faults += [f"{file}: no message is {says}" for file, says in claims
               if (file, says) not in used]
    return faults
