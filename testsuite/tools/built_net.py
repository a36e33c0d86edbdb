"""An example as a program of the host runtime, with random weights and a random batch."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class BuiltNet:
    """Built in a folder by a compiler at a level such as -O3, from what cnnc emits with these
    options."""

    def __init__(self, build, folder, name, level, *options, compiler="g++"):
        path = os.path.join(folder, name)
        net = os.path.join(ROOT, "examples", name, f"{name}.cnn")
        subprocess.run([os.path.join(build, "cnnc"), "--main", *options, net, "-o", f"{path}.cu"],
                       check=True)
        subprocess.run([compiler, "-std=c++17", level, "-I", os.path.join(ROOT, "runtime", "host"),
                        "-x", "c++", f"{path}.cu", "-x", "none",
                        os.path.join(build, "libcnnc_host.a"), "-lpthread", "-o", path], check=True)
        info = subprocess.run([path, "info", "--tensors"], check=True, stdout=subprocess.PIPE)
        subprocess.run([os.path.join(build, "testsuite", "random_tensors"), "--seed", "0",
                        "--weights", f"{path}.weights", "--batch", f"{path}.batch"], check=True,
                       input=info.stdout)
        self.saved = f"{path}.saved"
        self.command = [path, "step", "--seed", "0", "--load", f"{path}.weights", "--batch",
                        f"{path}.batch", "--save", self.saved, "--steps"]

    def step(self, steps, **environment):
        """Takes training steps, and saves all tensors in the file `saved`."""
        subprocess.run([*self.command, str(steps)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, **environment})
