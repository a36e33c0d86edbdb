#!/usr/bin/env python3
"""A page of 10,000 buffers, in all its programs, shows them all; prints how long it took.

    check_size.py CNNC
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

NET = """net large {
    input image : f32[8, 8, 4]
    input label : class[10]
    x = image
    repeat 264 { x = x -> conv(4, 3) -> batchnorm -> relu }
    logits = x -> flatten -> dense(10)
    output logits
    loss softmax_cross_entropy(logits, label)
}
train { batch = 4  optimizer = sgd(lr = 0.01, momentum = 0.9) }
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        net, page = (os.path.join(folder, name) for name in ("large.cnn", "page.html"))
        with open(net, "w", encoding="utf-8") as file:
            file.write(NET)
        subprocess.run([sys.argv[1], net, "--report", page], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(page, encoding="utf-8") as file:
            count = len(re.findall(r'<rect id="', file.read()))
    print(f"{count} buffers in all, {used.ru_utime + used.ru_stime:.2f} s of a processor")
    return 0 if count >= 10000 else 1


sys.exit(main())
