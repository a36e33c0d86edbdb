#!/usr/bin/env python3
"""Random nets in integers of 8 bits have the results of the interpreter.

    check_random.py BUILD ROOT --seed N --nets N [--exact] [--jobs N]

The nets are those of testsuite/random from a seed on that store a map in 8 bits and read it. Some
have nothing to compare, as each output is one number or not finite: at most MOST_SAME of them.

Numbers are drawn and compared as check_int8.py has it. With --exact all numbers are integers, all
scales powers of two and all operators exact. Then no sum is rounded, ties are the same, and outputs
are equal in bits. A number at the end of the range is cut off in both.
"""
import argparse
import array
import os
import random
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from check_int8 import Checker, Different, Fault, NoNumbers, run, write_npy

MOST_SEEDS = 20     # looked at for each net
MOST_SAME = 0.5     # of the nets
LARGEST = 1 << 24   # integers that f32 holds


def write_safetensors(path, tensors):
    """{name: (type, shape, numbers)}"""
    types = {"B": "U8", "b": "I8", "f": "F32", "i": "I32"}
    parts, at = [], 0
    for name, (shape, numbers) in tensors.items():
        end = at + len(numbers) * numbers.itemsize
        parts.append(f'"{name}": {{"dtype": "{types[numbers.typecode]}", "shape": {shape}, '
                     f'"data_offsets": [{at}, {end}]}}')
        at = end
    header = ("{" + ", ".join(parts) + "}").encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, numbers in tensors.values():
            file.write(numbers.tobytes())


class RandomChecker(Checker):
    def __init__(self, words, work):
        super().__init__(os.path.abspath(words.build), os.path.abspath(words.root), work)
        self.exact = words.exact

    def draw(self, draw, role, name, dtype, count, classes):
        """Numbers of a tensor of the integer mode."""
        if name.endswith(".scale") and role == "param":
            return array.array("f", (2.0 ** draw.randint(-2, 1) for _ in range(count)))
        if dtype == "u8":
            return array.array("B", (draw.randint(0, 3) for _ in range(count)))
        if dtype == "i8":
            return array.array("b", (draw.randint(-3, 3) for _ in range(count)))
        if dtype == "i32":
            return array.array("i", (draw.randint(0, max(classes, 1) - 1) for _ in range(count)))
        return array.array("f", (float(draw.randint(-2, 2)) for _ in range(count)))

    def prepare(self, program, folder, batch, samples, seed):
        if not self.exact:
            return super().prepare(program, folder, batch, samples, seed)
        draw, weights, inputs = random.Random(seed), {}, {}
        words = []
        for line in run(program, "info", "--tensors").splitlines():
            role, name, dtype, sizes, classes = line.split()[:5]
            if role not in ("input", "param"):
                continue
            shape = [int(size) for size in sizes.split("x")]
            if role == "input":
                shape[0] = samples
            count = 1
            for size in shape:
                count *= size
            tensor = shape, self.draw(draw, role, name, dtype, count, int(classes))
            (inputs if role == "input" else weights)[name] = tensor
            if role == "input":
                write_npy(f"{folder}/{name}.npy", dtype.upper(), *tensor)
                words += ["--test", f"{name}={folder}/{name}.npy"]
        write_safetensors(f"{folder}/weights", weights)
        write_safetensors(f"{folder}/batch", inputs)
        return [*(["--load", f"{folder}/weights"] if weights else []), *words]

    def check(self, net, line, settings, seen):
        if not self.exact:
            return super().check(net, line, settings, seen)
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            self.compile(net, [], folder)
            equal, varied = 0, False
            for name, (numbers, wanted) in self.outputs(net, [], {"--seed": line.split()[-1]},
                                                        folder).items():
                most = max(map(abs, wanted))
                if not most < LARGEST:
                    raise Fault(f"{name}: a number of {most:g}, which f32 may round")
                apart = sum(x != y for x, y in zip(numbers, wanted))
                if apart:
                    raise Different(f"{name}: {apart} of {len(wanted)} numbers differ")
                equal, varied = equal + len(wanted), varied or len(set(wanted)) > 1
            if not varied:
                raise NoNumbers("outputs are one number each")
            return f"{equal} numbers are equal"

    def stores_bytes(self, net, folder):
        """True if a map has 8 bits, and a launch reads it."""
        run(f"{self.build}/cnnc", "--mode", "infer", "--precision", "int8", net, "--emit", "ir",
            "-o", f"{folder}/net.ir")
        with open(f"{folder}/net.ir", encoding="utf-8") as file:
            launches = re.findall(r"^\[\d+\].*", file.read(), re.M)
        maps = [m[1] for m in (re.search(r": %\d+ (\S+) [ui]8\[[^=]*scale_", x) for x in launches)
                if m]
        return any(re.search(rf" = .*[(, ]{re.escape(name)}[,)]", x)
                   for name in maps for x in launches)

    def nets_from(self, seed, count):
        """The first nets from a seed on that store bytes."""
        nets = []
        for number in range(seed, seed + count * MOST_SEEDS):
            net = f"{self.work}/random_{number}.cnn"
            run(f"{self.build}/testsuite/random/random_net", str(number), "--settings", "1",
                *(["--exact"] if self.exact else []), "-o", net)
            with tempfile.TemporaryDirectory(dir=self.work) as folder:
                if self.stores_bytes(net, folder):
                    nets.append((number, net))
            if len(nets) == count:
                return nets
        raise Fault(f"{len(nets)} of {count * MOST_SEEDS} nets have maps of 8 bits")

    def line(self, pair):
        number, net = pair
        try:
            check = self.check if self.exact else self.check_draws
            return f"net {number}: {check(net, f' --seed {number}', '', set())}"
        except NoNumbers as reason:
            return f"net {number}: nothing to compare: {reason}"
        except Fault as fault:
            with open(net, encoding="utf-8") as file:
                return f"net {number}: FAILED: {fault}\n{file.read()}"


def main():
    parser = argparse.ArgumentParser()
    for name in "build", "root":
        parser.add_argument(name)
    for name in "--seed", "--nets", "--jobs":
        parser.add_argument(name, type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        checker = RandomChecker(words, work)
        nets = checker.nets_from(words.seed, words.nets)
        with ThreadPoolExecutor(words.jobs) as pool:
            lines = list(pool.map(checker.line, nets))
    print("\n".join(lines))
    same = sum("nothing to compare" in line for line in lines)
    if same > MOST_SAME * len(lines):
        print(f"FAILED: {same} of {len(lines)} nets have nothing to compare")
    return same > MOST_SAME * len(lines) or any("FAILED" in line for line in lines)


if __name__ == "__main__":
    sys.exit(main())
