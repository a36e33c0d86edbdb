# Checks the effect of each pass on a small graph, and the cases that it must leave alone.  Each
# file says in its first lines the command of cnnc and its expected output.  Run with
#     lit -D cnnc=BUILD/cnnc [-D llvm=/usr/lib/llvm-14/bin] testsuite/passes
import os
import lit.formats

config.name = "passes"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".cnn", ".ir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(
    os.path.dirname(os.path.abspath(lit_config.params["cnnc"])), "pass-tests")
os.makedirs(config.test_exec_root, exist_ok=True)

llvm = lit_config.params.get("llvm", "/usr/lib/llvm-14/bin")
config.environment["PATH"] = llvm + os.pathsep + os.environ["PATH"]
config.substitutions.append(
    ("%cnnc", os.path.abspath(lit_config.params["cnnc"])))
config.substitutions.append(
    ("%plan_check", "python3 " + os.path.join(
        config.test_source_root, "..", "plan_check.py")))
