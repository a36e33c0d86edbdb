#!/usr/bin/env python3
"""Every message of the plan's checker has a rule of plans.rules in mutants.txt, or an exception.

    check_messages.py ROOT

So a rule that is added to the checker needs its fault. The test shows that it would see a missing
one. Without the faults of a message, with them twice, or with faults for a message that does not
exist, something is said.
"""
import sys

from checker_rules import EXCEPTIONS, groups, unclaimed


def main(root):
    rules = groups()
    faults = unclaimed(root, rules)
    for fault in faults:
        print(fault)
    for i, (file, says) in enumerate(rules):
        planted = {"no rule": rules[:i] + rules[i + 1:],
                   "rules twice": rules + [rules[i]],
                   "a rule for no message": rules + [(file, says + " never said")]}
        for name, claimed in planted.items():
            if not unclaimed(root, claimed):
                faults.append(name)
                print(f"nothing is said of {name}: {file}, {says}")
    for exception in EXCEPTIONS:
        others = {k: v for k, v in EXCEPTIONS.items() if k != exception}
        if not unclaimed(root, rules, exceptions=others):
            faults.append(exception)
            print(f"no exception is needed: {exception}")
    print(f"{len(rules)} messages with rules, {len(EXCEPTIONS)} exceptions")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
