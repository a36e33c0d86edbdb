#!/usr/bin/env python3
"""Names that C, C++, CUDA, their headers or the emitted file use too.

usage: check_names.py CNNC RUNTIME_HOST

A net, its inputs, layers, parameters and outputs may have any name that the language allows.  The
emitted files of such nets must compile without a warning as C++, header and program too, and the
header as C99; or cnnc refuses the name and says where.  Inputs, layers and outputs are many to a
net; nets are one each, so that of their names some are tried.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case
catch char char16_t char32_t char8_t class co_await co_return co_yield compl
concept const const_cast consteval constexpr constinit continue decltype default
delete do double dynamic_cast else enum explicit export extern false float for
friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires
restrict return short signed sizeof static static_assert static_cast struct
switch template this thread_local throw true try typedef typeid typename typeof
union unsigned using virtual void volatile wchar_t while xor xor_eq""".split()
LIBRARY = """NULL EOF NAN INFINITY assert errno stdin stdout stderr size_t ptrdiff_t
int8_t uint8_t int32_t uint32_t int64_t uint64_t uintptr_t intptr_t INT_MAX
UINT64_MAX DBL_MAX FLT_EPSILON M_PI main exit abort malloc free memcpy memset
memcmp strlen strcmp printf puts fopen fread fwrite FILE time clock rand read
write open close stat exp log sqrt pow tanh fabs floor ceil fmax fmin isnan
isfinite std string vector map thread mutex atomic function pair tuple array span
begin end data size min max swap move get y0 y1 j0 j1 jn yn gamma index signal
signals environ linux unix i386 bit byte""".split()
CUDA = """__global__ __device__ __shared__ threadIdx blockIdx blockDim gridDim warpSize
dim3 float4 float2 int4 uint4 half __half cudaStream_t cudaError_t cudaSuccess
cudaMalloc cublasHandle_t cublasCreate __syncthreads __shfl_xor_sync atomicAdd
__launch_bounds__ CUDA_VERSION LAUNCH CHECK""".split()
OURS = """real StateHeader Place Parameter Arena header arena net state train eval infer status
samples stream given scored figures accumulate_metrics advance_step step step_line inits averages
context setting error tensor metrics param params param_count init attach apply
accum set export import import_ last_error strerror set_ BLOCK N H W C K R S P Q
x y a b c d f i j k n g p q r s t w x_bytes y_bytes loss accuracy batch seed count
factor offset bytes name shape rank dtype value values input output inputs
outputs weight bias mean variance cnnc program run data_set options reader text
file path argv argc usage help epoch rate lr momentum m v h grad dgrad wgrad
identity Tile relu conv add mul normal uniform philox""".split()
SHAPED = """_ __ _x __x _X _A1 x_ x__ int_ int__ class_ a_b a__b A_B A aB Ab AB ABC
ABC_ E1 e1 x1e5 u8 f32 f64 L LL u l0 O0 i32 R X W_OK X_OK F_OK R_OK""".split()
# Words that only the language itself reserves.
OF_LANGUAGE = set("""net block train input output loss metric repeat as if else
return include and or not true false""".split())

NETS = """int main NULL float4 net state x f X real StateHeader class blockIdx cnnc std
LAUNCH c register train_ abc_ EOF""".split()


def words():
    seen = []
    for word in KEYWORDS + LIBRARY + CUDA + OURS + SHAPED:
        if word not in seen and word not in OF_LANGUAGE:
            seen.append(word)
    return seen


def net_of(name, some):
    """Inputs, outputs and layers called by the words of some, and the names of their sizes and
    gradients."""
    inputs = some[0::2]
    outputs = some[1::2]
    lines = [f"net {name} {{"]
    lines += [f"    input {word} : f32[3]" for word in inputs]
    lines += ["    input label_of_all : class[3]"]
    total = " + ".join(inputs)
    lines += [f"    sum_of_all = {total}"]
    for k, word in enumerate(outputs):
        # Named by the assignment and by name =, in turns.
        given = ", name = \"%s\"" % word if k % 2 else ""
        lines += [f"    {word} = sum_of_all -> dense(3{given})"]
    scores = "relu(" + " + ".join(outputs or ["sum_of_all -> dense(3)"]) + ")"
    lines += [f"    scores_of_all = {scores}",
              "    output " + ", ".join(outputs + ["scores_of_all"]),
              "    loss softmax_cross_entropy(scores_of_all, label_of_all)",
              "    metric accuracy(scores_of_all, label_of_all)", "}",
              "train { batch = 2  optimizer = sgd(lr = 0.1) }"]
    return "\n".join(lines) + "\n"


def shows_place(text):
    return re.search(r"net\.cnn:\d+:\d+: error: ", text)


class Checker:
    def __init__(self, cnnc, host, folder):
        self.cnnc, self.host, self.folder = cnnc, host, Path(folder)
        self.faults, self.compiled, self.refused = [], 0, 0

    def compiles(self, language, standard, text):
        source = self.folder / "alone.c"
        source.write_text(text)
        compiler = "g++" if language == "c++" else "gcc"
        done = subprocess.run(
            [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra",
             "-Werror", "-fsyntax-only", "-I", self.host, "-I", self.folder,
             source], capture_output=True, text=True)
        self.compiled += 1
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        return None if done.returncode == 0 else "\n".join(errors[:3])

    def check(self, name, some, options):
        (self.folder / "net.cnn").write_text(net_of(name, some))
        done = subprocess.run(
            [self.cnnc, "net.cnn", "-o", "net.cu", "--header", "net.h",
             *options], cwd=self.folder, capture_output=True, text=True)
        what = f"net {name}, {len(some)} words from {some[:1]}, {options}"
        if done.returncode == 1 and shows_place(done.stderr):
            self.refused += 1
            return
        if done.returncode != 0:
            self.faults.append(f"{what}: exit {done.returncode}: {done.stderr}")
            return
        said = self.compiles("c++", "c++17", (self.folder / "net.cu").read_text())
        if said is None:
            said = self.compiles("c", "c99", '#include "net.h"\n')
        if said is not None:
            self.faults.append(f"{what}:\n{said}")

    def check_itself(self):
        """A name that was left as it is must be told."""
        (self.folder / "net.cnn").write_text(net_of("n", ["int", "class"]))
        subprocess.run([self.cnnc, "net.cnn", "-o", "net.cu"],
                       cwd=self.folder, check=True)
        text = (self.folder / "net.cu").read_text()
        if self.compiles("c++", "c++17", text) is not None:
            self.faults.append("what is not planted does not compile")
        if self.compiles("c++", "c++17",
                         re.sub(r"\bint_\b", "int", text)) is None:
            self.faults.append("a planted int is not told")


def main():
    cnnc, host = (str(Path(arg).resolve()) for arg in sys.argv[1:3])
    known = words()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(cnnc, host, folder)
        checker.check_itself()
        for start in range(0, len(known), 60):
            some = known[start:start + 60]
            # Inputs and outputs in each other's places.
            checker.check("n", some, ["--main"])
            checker.check("n", some[1:] + some[:1], ["--mode", "infer"])
        for name in sorted({*NETS, *known[::16]}):
            checker.check(name, ["a"], ["--main"])
    print("\n".join(checker.faults) or f"{len(known)} names: "
          f"{checker.compiled} files compiled, {checker.refused} nets refused")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
