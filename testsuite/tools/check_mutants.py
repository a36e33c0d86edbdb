#!/usr/bin/env python3
"""Checks the runner of planted faults with small tables: faults that nothing finds are reported.

    check_mutants.py BUILD CC CXX
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = "LICENSE: another word\n- APPENDIX: How\n+ APPENDIX: Why\n"
FOUND = 'test faults\nrun grep "APPENDIX: How" {tree}/LICENSE\n'
# A table, and whether all its faults are found.
PLANTED = {
    "found": (FOUND + ROW, True),
    "not found": (FOUND.replace("How", "") + ROW, False),
    "found without a fault": (FOUND.replace("How", "Where") + ROW, False),
    "says something else": (FOUND + "says nothing\n" + ROW, False),
    "takes too long": ("test faults\nrun sleep 9\nlimit 1\nsound faults\n" + ROW, True),
}
# Tables that are not sound.
UNSOUND = {
    "changes nothing": FOUND + ROW.replace("Why", "How"),
    "no such text": FOUND + ROW.replace("How", "Who"),
    "the text twice": FOUND + ROW.replace("APPENDIX: How", "Apache License"),
    "no such file": FOUND + ROW.replace("LICENSE", "LICENCE"),
    "no such test": FOUND.replace("faults", "none") + ROW,
    "no such program": FOUND.replace("{tree}", "{tee}") + ROW,
    "no such script": "test faults\nrun tools/none.py\n" + ROW,
    "the name twice": FOUND + ROW + ROW,
}


def status(text, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        return subprocess.run([sys.executable, os.path.join(HERE, "mutants.py"), *words],
                              env={**os.environ, "TABLE": file.name, "FAULT": ""},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def main(*words):
    wrong = [name for name, (text, found) in PLANTED.items()
             if (status(text, *words, "lit", "faults") == 0) != found]
    sound = [(FOUND + ROW, True), *((text, False) for text in UNSOUND.values())]
    wrong += [name for name, (text, good) in zip(["sound", *UNSOUND], sound)
              if (status(text, *words, "lit") == 0) != good]
    print(*wrong, f"{len(wrong)} tables with another result", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
