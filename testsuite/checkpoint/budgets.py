"""Shared by the tests of budgets: a net's arenas, and budgets between them."""
import json
import random
import re
import subprocess

OVER_BUDGET = 4


class Compiler:
    """cnnc on one net. options: as in golden/examples.txt; options of others are left out.

    --with OPTION is one of cnnc's, too.
    """

    def __init__(self, cnnc, net, words):
        pairs = list(zip(words, words[1:]))
        self.net, self.cnnc = net, cnnc
        self.options = [x for a, b in pairs if a in ("--batch", "-D", "--gpu") for x in (a, b)]
        self.options += [b for a, b in pairs if a == "--with"]

    def run(self, *options):
        return subprocess.run([self.cnnc, *self.options, *options, self.net],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def output(self, *options):
        done = self.run(*options)
        assert done.returncode == 0, f"{' '.join(options)}: {done.stderr}"
        return done.stdout

    def plan(self, *options):
        return json.loads(self.output("--emit", "plan", *options))

    def refused(self, budget, *options):
        """The smallest arena that is found where it does not fit in the budget; None: it does."""
        done = self.run("--budget", str(budget), *options)
        if done.returncode == 0:
            return None
        found = re.search(r"smallest arena found for it(?:, at batch \d+,)? has (\d+) bytes", done.stderr)
        assert done.returncode == OVER_BUDGET and found, done.stderr
        return int(found[1])

    def smallest(self):
        """That for a training step."""
        return self.refused(1, "--emit", "plan")

    def stored(self):
        """The smallest arena of a step that recomputes nothing."""
        return self.plan("--prefer", "memory")["arena_bytes"]

    def whole(self):
        """The arena of the fastest step, which recomputes nothing."""
        return self.plan("--prefer", "time")["arena_bytes"]


def again(plan):
    """The launches of a plan that are recomputed."""
    return [step["name"] for step in plan["steps"] if step["phase"] == "recompute"]


def draw(name, smallest, whole, count):
    """The smallest arena, and budgets below the whole one: the same for the same name."""
    numbers = random.Random(name)
    return [smallest] + [numbers.randrange(smallest, whole) for _ in range(count - 1)]
