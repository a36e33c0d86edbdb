#!/usr/bin/env python3
"""Every message of the plan's checker has a row in checker_rules.py, or an exception there.

    check_messages.py ROOT

So a rule that is added to the checker needs its row. The test shows that it would see a missing
one. Without the rows of a message, with them twice, or with rows for a message that does not exist,
something is said.
"""
import sys

from checker_rules import EXCEPTIONS, RULES, unclaimed


def main(root):
    faults = unclaimed(root)
    for fault in faults:
        print(fault)
    for i, (file, says, rules) in enumerate(RULES):
        planted = {"no row": RULES[:i] + [(file, says, [])] + RULES[i + 1:],
                   "rows twice": RULES + [RULES[i]],
                   "a row for no message": RULES + [(file, says + " never said", rules)]}
        for name, groups in planted.items():
            if not unclaimed(root, groups):
                faults.append(name)
                print(f"nothing is said of {name}: {file}, {says}")
    for exception in EXCEPTIONS:
        if not unclaimed(root, exceptions={k: v for k, v in EXCEPTIONS.items() if k != exception}):
            faults.append(exception)
            print(f"no exception is needed: {exception}")
    print(f"{len(RULES)} messages, {sum(len(rules) for _, _, rules in RULES)} rows, "
          f"{len(EXCEPTIONS)} exceptions")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
