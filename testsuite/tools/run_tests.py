#!/usr/bin/env python3
"""Runs the tests of a build, within a limit of time.

    run_tests.py BUILD quick|all [--until TIME] [--jobs N]

A test with the label `part` is a part of a long one, so that `all` leaves it out.  TIME is in
seconds since the epoch; then the tests that still run are stopped.  A test that did not run to its
end is listed, and is a failure: it proved nothing.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml


def tests_of(build, select):
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *select],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    return {test["name"] for test in json.loads(out[out.index("{"):])["tests"]}


def ended(report):
    """Names of the tests that passed, failed or said that they must be skipped."""
    if not os.path.exists(report):
        return set()
    return {case.get("name") for case in xml.parse(report).getroot().iter("testcase")
            if case.get("status") != "notrun" or case.find("skipped") is not None}


def run(build, select, jobs, until):
    """CTest's status; it stops by itself at a time of the day."""
    command = ["ctest", "--test-dir", build, *select, "--output-on-failure", "-j", str(jobs),
               "--output-junit", os.path.join(os.path.abspath(build), "tests.xml")]
    if until:
        if until <= time.time() + 1:
            return 1
        command += ["--stop-time", time.strftime("%H:%M:%S", time.localtime(until))]
    return subprocess.run(command).returncode


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("tests", choices=("quick", "all"))
    parser.add_argument("--until", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    select = ["-L", "^quick$"] if options.tests == "quick" else ["-LE", "^part$"]
    report = os.path.join(options.build, "tests.xml")
    if os.path.exists(report):
        os.remove(report)
    status = run(options.build, select, options.jobs, options.until)
    tests = tests_of(options.build, select)
    missing = sorted(tests - ended(report))
    if missing:
        print(f"the time was up: {len(missing)} of {len(tests)} tests not run:", *missing,
              sep="\n    ")
    return 1 if status or missing else 0


if __name__ == "__main__":
    sys.exit(main())
