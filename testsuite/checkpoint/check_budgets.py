#!/usr/bin/env python3
"""More memory never costs more, and no budget is passed.

    check_budgets.py TESTS CNNC NET.cnn COUNT [OPTIONS...]

COUNT budgets are evenly spread from the smallest arena of the net to the one without a budget. For
each, plan_check.py calls the plan sound and its arena is within the budget. The time of a training
step in the model that chooses (--summary) never rises with the budget. One byte is refused, and the
smallest arena that the refusal names fits. With enough, plan and graph are those of --prefer time.
"""
import json
import sys

from budgets import Compiler, again


def seconds(summary):
    """The time of a training step, in the model of the GPU."""
    return next(row["model_time_ps"] / 1e12 for row in json.loads(summary)["phases"]
                if row["mode"] == "train" and row["phase"] == "all")


def check_budget(compiler, budget, plan_check, faults):
    """The cost of the budget."""
    plan = compiler.plan("--budget", str(budget))
    # With a launch for each update, as programs are compared: how many updates memory lets be one
    # launch is another matter.
    cost = seconds(compiler.output("--summary", "--format", "json", "--budget", str(budget),
                                   "-fno-fuse-horizontal"))
    print(f"budget {budget}: arena {plan['arena_bytes']}, {len(again(plan))} launches recomputed, "
          f"{1e6 * cost:.3f} us", flush=True)
    wrong = plan_check.check(plan)[0]
    if wrong:
        faults.append(f"budget {budget}: {wrong[0]}")
    if plan["arena_bytes"] > budget:
        faults.append(f"budget {budget}: the arena has {plan['arena_bytes']} bytes")
    return cost


def check_ends(compiler, whole, faults):
    for budget in whole, 2 * whole + 1:
        for kind in "plan", "ir":
            within = compiler.output("--emit", kind, "--budget", str(budget))
            if within.replace(f'"budget_bytes": {budget}', '"budget_bytes": null') != \
                    compiler.output("--emit", kind, "--prefer", "time"):
                faults.append(f"with {budget} bytes, which are enough, the {kind} is another")


def main():
    tests, cnnc, net, count, *words = sys.argv[1:]
    sys.path.insert(0, tests)
    import plan_check
    compiler, faults = Compiler(cnnc, net, words), []
    smallest, whole, count = compiler.smallest(), compiler.whole(), int(count)
    check_ends(compiler, whole, faults)
    budgets = sorted({smallest + (whole - smallest) * k // (count - 1) for k in range(count)})
    costs = [check_budget(compiler, budget, plan_check, faults) for budget in budgets]
    for k in range(1, len(costs)):
        if costs[k] > costs[k - 1]:
            faults.append(f"{budgets[k]} bytes cost more than {budgets[k - 1]}")
    for fault in faults:
        print("FAILED:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
