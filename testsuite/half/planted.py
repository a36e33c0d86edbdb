#!/usr/bin/env python3
"""Faults planted in maps of 16 bits, each of which a check of theirs must find.

    planted.py BUILD ROOT CC

In emitted files check_net must find them: a step with the fault is not the interpreter's. A fault
of the compiler is found by its verifier, C++, the graph, the interpreter or the test of numbers.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from plant_faults import choose, compile_files, link_with_fault, look, looks  # noqa: E402

# Name: precision, net of ops/, an edit of the emitted file for sed -E.
EMITTED = {
    "maps are rounded to fewer digits":
        ("f16", "relu", r"s/__float2half_rn\(\(float\)x\)/"
                        r"__float2half_rn((float)((real)(int)(x * 256) \/ 256))/"),
    "numbers are read wrong":
        ("bf16", "conv", r"s/return \(real\)__bfloat162float\(bits\);/"
                         r"return (real)__bfloat162float(bits) * (real)1.01;/"),
    "batch statistics are rounded":
        ("f16", "batchnorm", r"s/^( *)mean\[run.c\] = (.*);/"
                             r"\1mean[run.c] = (real)(int)((\2) * 64) \/ 64;/"),
    "what a normalisation multiplies by is rounded":
        ("f16", "layernorm", r"s/const real factor = (1 \/ sqrt.*);/"
                             r"const real factor = (real)(int)((\1) * 128) \/ 128;/"),
}

# Name: a file of the compiler, a text in it, the replacement, and the test that must find it.
COMPILER = {
    "statistics are maps":
        ("ir/dtype.c", "if (ids[k] == v && !slot_at(slots, slot_count, k)->typed) return false;",
         "(void)slots, (void)slot_count;", "emit"),
    "a view has another type than its operand":
        ("passes/lower_precision.c", "while (join_views(g, halves)) {}", "(void)join_views;", "emit"),
    "parameters' gradients are maps":
        ("passes/lower_precision.c", "return of != NONE && g->values[of].persistent;",
         "return of != NONE && false;", "emit"),
    "gradients are no maps":
        ("passes/lower_precision.c", "(value->kind == ACTIVATION || value->kind == GRADIENT)",
         "value->kind == ACTIVATION", "text"),
    "what is float32 has 16 bits":
        ("passes/lower_precision.c", "!keeps_f32(g, v) && !is_of_parameter(g, v);",
         "(keeps_f32(g, v) || is_of_parameter(g, v) || true);", "text"),
    "results are not rounded":
        ("ir/interpret.c", "r->out[k][i] = rounded(value->dtype, r->out[k][i]);", "(void)i;",
         "step"),
    "numbers past the largest are kept":
        ("ir/dtype.c", "return fabs(near) < ldexp(1, most) ? near : copysign(INFINITY, x);",
         "return near;", "numbers"),
    "halves of a unit are rounded up":
        ("ir/dtype.c", "nearbyint(ldexp(x, -unit))", "round(ldexp(x, -unit))", "numbers"),
}

NET = """net n {
    input image : f32[4, 4, 2]
    input label : class[12]
    x = image -> conv(3, 3) -> batchnorm -> relu -> conv(3, 1)
    y = x -> flatten -> dense(12) -> reshape([2, 2, 3])
    z = y -> reshape([12])
    output z
    loss softmax_cross_entropy(z, label)
}
train {
    batch     = 4
    optimizer = sgd(lr = 0.1)
}
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Faults:
    """What is built with a fault lies in folder."""

    def __init__(self, folder, build, root, compiler):
        self.folder, self.build, self.root, self.compiler = folder, build, root, compiler

    def at(self, name):
        return os.path.join(self.folder, name)

    def program(self, name, sources, fault):
        return link_with_fault(self.at(name), fault, sources, self.build, self.root, self.compiler)

    def cnnc(self, fault):
        return self.program("cnnc", [os.path.join(self.root, "frontend/driver/main.c")], fault)

    def emit(self, fault):
        """The compiler refuses its own graph, or C++ the emitted file."""
        cnnc = self.cnnc(fault) if fault else os.path.join(self.build, "cnnc")
        with open(self.at("n.cnn"), "w", encoding="utf-8") as file:
            file.write(NET)
        for options in [], ["--split", "1"]:
            done = run(cnnc, "--precision", "f16", *options, self.at("n.cnn"), "-o", self.at("n.cu"))
            if done.returncode or run(
                    "g++", "-std=c++17", "-fsyntax-only", "-I",
                    os.path.join(self.root, "runtime", "host"), "-x", "c++",
                    self.at("n.cu")).returncode:
                return True
        return False

    def text(self, fault):
        """testsuite/text/lower_precision.cnn, without a tool that may not be there."""
        cnnc = self.cnnc(fault) if fault else os.path.join(self.build, "cnnc")
        net = os.path.join(self.root, "testsuite", "text", "lower_precision.cnn")
        said = run(cnnc, "--precision", "f16", "--stop-after=lower_precision", net).stdout
        wanted = [" x f32[4, 8, 8, 8]", " y f16[4, 8, 8, 8]", " d.y f16[4, 8, 8, 8]"]
        return any(text not in said for text in wanted)

    def numbers(self, fault):
        source = os.path.join(self.root, "testsuite", "half", "numbers.cpp")
        if not fault:
            return run(os.path.join(self.build, "testsuite", "half", "half_numbers")).returncode != 0
        compile_files(["-I", os.path.join(self.root, "runtime", "host"), "-c", source,
                       "-o", self.at("numbers.o")], "g++", self.root, "c++17")
        program = self.program("numbers", [self.at("numbers.o"), os.path.join(
            self.build, "libcnnc_host.a"), "-lpthread", "-lstdc++"], fault)
        return run(program).returncode != 0

    def step(self, fault):
        """check_net, with an interpreter that has the fault."""
        build = self.at("build")
        os.makedirs(os.path.join(build, "testsuite"), exist_ok=True)
        names = ["cnnc", "libcnnc_host.a"] + [
            os.path.join("testsuite", n) for n in ("compare_tensors", "random_tensors", "interpret")]
        for name in names:
            if not os.path.lexists(os.path.join(build, name)):
                os.symlink(os.path.join(self.build, name), os.path.join(build, name))
        if fault:
            own = os.path.join(self.root, "testsuite")
            program = self.program(
                "interpret", [os.path.join(own, "interpret", "interpret.c"),
                              os.path.join(own, "interpret", "differences.c"),
                              os.path.join(own, "tools", "tensors.c")], fault)
            os.replace(program, os.path.join(build, "testsuite", "interpret"))
        return self.check_net(build, "bf16", "conv") != 0

    def check_net(self, build, precision, name, *options):
        tests = os.path.join(self.root, "testsuite")
        return run(os.path.join(tests, "check_net"), build, os.path.join(tests, "ops", name + ".cnn"),
                   os.path.join(tests, "golden", name + "-1"), "--batch", "4", "--precision",
                   precision, *options).returncode

    def edited(self, precision, name, edit):
        with open(self.at("edit.sed"), "w", encoding="utf-8") as file:
            file.write(edit + "\n")
        status = self.check_net(self.build, precision, name, "--edit", self.at("edit.sed"))
        assert status != 2, f"nothing to edit: {edit}"
        return status == 1


def main():
    build, root, compiler = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    failed = 0
    if looks:
        return look(root, COMPILER)
    in_compiler = choose(root, COMPILER, "testsuite/half")
    # The part of the runtime in an emitted file.
    in_emitted = choose(root, {name: ("runtime/support",) for name in EMITTED},
                        "runtime/kernels", "testsuite/half", "testsuite/check_net")
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(folder, build, root, compiler)

        def judge(name, found, wanted=True):
            print(f"{name}: {'found' if found else 'not found'}", flush=True)
            return found != wanted
        for kind in sorted({place[3] for place in in_compiler.values()}):
            failed += judge(f"nothing, {kind}", getattr(faults, kind)(None), False)
        for name, place in in_compiler.items():
            failed += judge(name, getattr(faults, place[3])(place[:3]))
        for name in in_emitted:
            failed += judge(name, faults.edited(*EMITTED[name]))
    return 1 if failed else 0


sys.exit(main())
