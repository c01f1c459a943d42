"""A fake agent for tests: it speaks the worker protocol with canned answers, and fails when told to.

A cell fails in the way that its scenario's name says: `segv`, `kill`, `hang`, `exit`, `noise`, `half`, and so on.
Arguments: `die-at=OP` kills the process when OP is asked (`die-role`: only in that role),
`log=FILE` appends the id of each process started.
"""
# ruff: noqa: ARG001, ARG005, PTH123, TRY301 - one signature for all operations; a script as an outsider would write it

import base64
import ctypes
import hashlib
import json
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time

ARGS = dict(arg.partition("=")[::2] for arg in sys.argv[1:])
OUT = os.fdopen(os.dup(1), "wb", buffering=0)
MODELS = {}
ROLE = []


def send(message):
    OUT.write(json.dumps(message).encode() + b"\n")


def hello(request):
    if request["params"]["protocol"] != 1:
        raise RefusedError("protocol", "ProtocolVersion", "speaks 1")
    ROLE.append(request["params"]["role"])
    return {"protocol": 1, "harness": "fake", "python": "3", "platform": "fake"}


class RefusedError(Exception):
    def report(self):
        kind, error_class, message = self.args
        return {"kind": kind, "class": error_class, "message": message}


def device(request):
    return {
        "device_class": "fake-cpu", "os": "Fake", "kernel": "1", "cpu_arch": "fake", "cpu_model": "", "cpu_cores": 1,
        "cpu_isa": [], "memory_mib": 1, "accelerators": [], "cgroup_limits": {}, "virtualized": "none",
    }  # fmt: skip


def probe(request):
    if not isinstance(request["params"]["adapter"], str):
        raise RefusedError("protocol", "BadParameters", "adapter: expected a string")
    if request["params"]["adapter"] == "no-such-adapter":
        raise RefusedError("usage", "UnknownAdapterError", "no such adapter")
    missing = ARGS.get("missing", "")
    if missing:
        return {"importable": False, "why_not": "fake is not installed", "install": "pip install fake"}
    return {"importable": True, "version": "1"}


def describe(request):
    params = request["params"]
    for name in params["scenarios"]:
        if name == "no-such":
            raise RefusedError("usage", "KeyError", "scenario: there is no 'no-such'")
    service = {
        "name": params["service"]["name"], "source_digest": "1" * 64, "kind": "queue", "capacity": 2, "slots": 1,
        "overflow": "reject", "close_behaviour": "drain", "delegate_behaviour": "require", "capabilities": [],
        "configuration": {},
    }  # fmt: skip
    scenarios = [
        {
            "reference": name,
            "digest": "2" * 64,
            "requires": [],
            "exercises": ["own-output"],
            "native": "atomic",
            "tasks": 4,
        }
        for name in params["scenarios"]
    ]
    return {"service": service, "scenarios": scenarios}


def model(request):
    params = request["params"]
    data = MODELS.setdefault(params["digest"], bytearray())
    data += base64.b64decode(params["data"])
    complete = len(data) >= params["size"]
    if complete and hashlib.sha256(data).hexdigest() != params["digest"]:
        raise RefusedError("protocol", "ModelDigest", "wrong digest")
    return {"received": len(data), "complete": complete}


def expectations(request):
    if "bad-model" in ARGS:
        raise RefusedError("model", "ModelLoadError", "not a model")
    misbehave(ARGS.get("oracle", ""), request)
    return {
        "model_digest": request["params"]["model_digest"],
        "runtime": {"name": "fake", "version": "1", "build": "", "artifacts": {}, "options": {}},
        "delegate": {"requested": "cpu", "actual": "cpu", "graph_nodes": 1, "placement": [], "evidence": "fake"},
        "recipes": [],
        "answers": [],
    }


def cell(request):
    wanted = request["params"]["cell"]
    for number in range(4):
        send({"id": request["id"], "progress": number})
    misbehave(wanted["scenario"].rpartition(":")[2], request)
    return {
        "scenario": wanted["scenario"], "scenario_digest": "2" * 64, "model_digest": wanted["model_digest"],
        "verdict": "FAIL" if wanted["scenario"] == "fails" else "PASS", "executions": 4,
        "invariants": [{"id": "own-output", "checked": 4, "violated": int(wanted["scenario"] == "fails")}],
        "failures": FAILURE if wanted["scenario"] == "fails" else [],
    }  # fmt: skip


def share(request):
    """The last share fails in the way that the scenario's name says; the others are what a cell is."""
    asked, name = request["params"]["share"], request["params"]["cell"]["scenario"]
    last = asked["index"] == asked["of"] - 1
    if not last and name != "fails":
        request["params"]["cell"]["scenario"] = "well"
    sums = cell(request) | {"verdict": "UNKNOWN", "scenario": name, "exercises": ["own-output"]}
    sums["exploration"] = {
        "strategy": "exhaustive",
        "seed": "7",
        "bound": 1,
        "whole_to": 1 if name != "cut" or not last else 0,
    }
    return {"sums": sums, "confirmed": name == "fails"}


FAILURE = [
    {
        "violations": [{"invariant": "own-output", "message": "t1 got t2's", "events": [0]}],
        "token": "rg1.000000000000.00000000.0", "history_digest": "3" * 64, "execution": 1, "events": [],
    }
]  # fmt: skip


def die(number):
    def act(request):
        os.kill(os.getpid(), number)
        time.sleep(60)

    return act


def hang(request):
    time.sleep(600)


def grandchild(request):
    """Leaves a child that holds the pipes, in the same process group, and crashes."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(6007)"])
    os.kill(os.getpid(), signal.SIGABRT)


def slow(request):
    for number in range(4, 9):
        time.sleep(0.3)
        send({"id": request["id"], "progress": number})


def halves(request):
    line = json.dumps({"id": request["id"], "progress": 7}).encode() + b"\n"
    OUT.write(line[:9])
    time.sleep(0.3)
    OUT.write(line[9:])


def half(request):
    OUT.write(b'{"id": 3, "res')
    os._exit(0)


def flood(request):
    while True:
        OUT.write(b"x" * 65536)


def chatter(request):
    os.write(2, b"\x1b[31mstderr line with control codes\n" * 100_000)


def last_words(request):
    os.write(2, b"line\n" * 5000 + b"\x1b[31msecret of the native library\n")
    os.abort()


def bus(request):
    with tempfile.TemporaryFile() as file:
        file.truncate(mmap.PAGESIZE)
        mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE, access=mmap.ACCESS_READ)
        file.truncate(0)
        mapped[0]


def uncaught(request):
    raise RuntimeError("nobody catches this")


def refuse(request):
    raise RefusedError("usage", "OptionError", "no such option")


MISBEHAVIOUR = {
    "refuse": refuse,
    "last-words": last_words,
    "segv": lambda request: ctypes.string_at(0),
    "kill": die(signal.SIGKILL),
    "abort": die(signal.SIGABRT),
    "term": die(signal.SIGTERM),
    "bus": bus,
    "exit": lambda request: os._exit(7),
    "exit-0": lambda request: sys.exit(0),
    "exit-3": lambda request: sys.exit(3),
    "uncaught": uncaught,
    "shell": lambda request: os._exit(128 + signal.SIGSEGV),
    "hang": hang,
    "grandchild": grandchild,
    "noise": lambda request: OUT.write(b"Segmentation fault, said somebody\n"),
    "two-answers": lambda request: send({"id": request["id"], "progress": 1, "result": {}}),
    "other-id": lambda request: send({"id": 999, "result": {}}),
    "wrong-shape": lambda request: send({"id": request["id"], "result": {"verdict": "FINE"}}),
    "close": lambda request: (OUT.close(), os.close(1), time.sleep(60)),
    "half": half,
    "halves": halves,
    "slow": slow,
    "flood": flood,
    "chatter": chatter,
}


def misbehave(how, request):
    MISBEHAVIOUR.get(how, lambda request: None)(request)


OPERATIONS = {
    "hello": hello, "device": device, "probe": probe, "describe": describe, "model": model,
    "expectations": expectations, "cell": cell, "share": share,
}  # fmt: skip


def main():
    if "log" in ARGS:
        with open(ARGS["log"], "a", encoding="utf-8") as log:
            log.write(f"{os.getpid()}\n")
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["op"] == "shutdown":
            send({"id": request["id"], "result": {}})
            return
        if request["op"] == ARGS.get("die-at") and ARGS.get("die-role", "") in {"", *ROLE}:
            os.kill(os.getpid(), signal.SIGKILL)
        operation = OPERATIONS.get(request["op"])
        try:
            if operation is None:
                raise RefusedError("protocol", "UnknownOperation", request["op"])
            send({"id": request["id"], "result": operation(request)})
        except RefusedError as refused:
            send({"id": request["id"], "error": refused.report()})


main()
