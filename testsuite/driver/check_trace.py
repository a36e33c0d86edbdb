#!/usr/bin/env python3
"""--emit trace has the numbers of --emit plan, as a trace that Perfetto and Chromium read.

    check_trace.py CNNC EXAMPLES

Launches follow each other and take the time of the model. The counter is the sum of the buffers
alive, from the plan's lifetimes; its maximum is the plan's bound.
"""
import json
import subprocess
import sys

cnnc, examples = sys.argv[1:]
RUNS = {
    "lenet": [], "digits": ["--mode", "infer"], "skip": ["--precision", "f16"],
    "mobilenet_v2": ["--batch", "4", "--checkpoint", "every 4"],
    "resnet9": ["--microbatch", "16", "--batch", "64"],
}


def strict(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), f"a name twice: {names}"
    return dict(pairs)


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def printed(kind, net, options):
    text = subprocess.run([cnnc, f"{examples}/{net}/{net}.cnn", "--emit", kind, "-o", "-",
                           *options], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text, object_pairs_hook=strict, parse_constant=refuse)


def alive(plan, step):
    unit = plan["alignment"]
    return sum(-(-b["bytes"] // unit) * unit for b in plan["buffers"]
               if b["alias_of"] is None and 0 <= b["first"] <= step <= b["last"])


def check(net, options):
    plan, trace = printed("plan", net, options), printed("trace", net, options)
    events = trace["traceEvents"]
    launches = [event for event in events if event["ph"] == "X"]
    counters = [event for event in events if event["ph"] == "C"]
    assert {event["ph"] for event in events} == {"X", "C", "M"}
    assert len(launches) == len(plan["steps"]) == len(counters) - 1 > 1
    now = 0
    for number, (launch, step) in enumerate(zip(launches, plan["steps"])):
        args = launch["args"]
        assert round(launch["ts"] * 1e3) == now // 1000 and args["step"] == number
        assert args["model_time_ps"] == step["model_time_ps"]
        now += step["model_time_ps"]
        # Perfetto drops launches that overlap, in nanoseconds.
        assert round(launch["ts"] * 1e3) + round(launch["dur"] * 1e3) == now // 1000
        assert (launch["name"], launch["cat"]) == (step["name"], step["phase"])
        for name in "op", "line", "flops", "moved_bytes", "phase":
            assert args[name] == step[name], (number, name)
        assert args.get("kernel") == step.get("kernel")
        assert counters[number]["ts"] == launch["ts"]
        assert counters[number]["args"] == {"live bytes": alive(plan, number)}
    assert round(counters[-1]["ts"] * 1e3) == now // 1000
    assert now == plan["model_time_ps"] - plan["copy_wait_ps"]
    most = max(event["args"]["live bytes"] for event in counters)
    assert most == plan["max_live_bytes"] == trace["otherData"]["max_live_bytes"]
    print(f"{net}: {len(launches)} launches, {now / 1e6:.1f} us, {most} bytes")


for example, words in RUNS.items():
    check(example, words)
