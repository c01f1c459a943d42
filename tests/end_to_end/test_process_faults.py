"""A fault that kills the worker is the result of its cell, by name; the other cells and the other targets go on."""

import json

SCENARIO = '''
@scenario(exercises=("own-output",), tasks=2)
def {name}(script):
    """The second run kills the process."""
    script.arm("{fault}", nth=2)
    service = script.open_service()
    for _ in range(2):
        service.submit(script.task()).result()
    service.close()
'''
DEATHS = {
    "process-segfault": ("CRASHED", "crashed with SIGSEGV"),
    "process-abort": ("CRASHED", "crashed with SIGABRT"),
    "process-bus-error": ("CRASHED", "crashed with SIGBUS"),
    "out-of-memory-kill": ("KILLED", "was killed with SIGKILL"),
}
SUITE = """
schema = "suite/1"
id = "deaths"
version = "1"
scenarios = {scenarios}
budget = {{ executions = 3 }}
[[service]]
name = "queue"
"""
TARGET = """
[[target]]
name = "{name}"
adapter = "numpy"
"""


def reference(fault):
    return f"d.py:{fault.replace('-', '_')}"


def suite(racegate, *scenarios, targets=("one",)):
    text = SUITE.format(scenarios=json.dumps(scenarios))
    (racegate.folder / "s.toml").write_text(text + "".join(TARGET.format(name=name) for name in targets))


def test_every_killing_fault_is_a_result_and_the_neighbours_go_on(racegate):
    scenarios = (SCENARIO.format(name=fault.replace("-", "_"), fault=fault) for fault in DEATHS)
    (racegate.folder / "d.py").write_text("from harness.scenario import scenario\n" + "".join(scenarios))
    suite(racegate, *map(reference, DEATHS), "many-clients", targets=("one", "other"))
    done = racegate("run", "s.toml", "--seed", 1)
    assert done.code == 1, done.text
    assert len(done.predicates) == 2
    expected = {reference(fault): verdict for fault, (verdict, _) in DEATHS.items()} | {"many-clients": "PASS"}
    for told in done.predicates:
        assert {entry["id"]: entry["verdict"] for entry in told["scenarios"]} == expected
    said = " ".join(done.out.split())
    for fault, (_, how) in DEATHS.items():
        assert f"the worker {how}" in said
        assert f"in execution 0 of {reference(fault)}, after {fault} was injected" in said


def test_one_from_the_command_line_is_named_in_the_receipt(racegate):
    suite(racegate, "many-clients", "queued-cancel")
    done = racegate("run", "s.toml", "--seed", 1, "--fault", "process-segfault:task=t3")
    assert done.code == 1, done.text
    # The third task is there in one of them alone: the other says so, in a worker of its own.
    assert done.verdicts == {"many-clients+process-segfault": "CRASHED", "queued-cancel+process-segfault": "UNKNOWN"}
    said = " ".join(done.out.split())
    assert "crashed with SIGSEGV, in execution 0 of many-clients, after process-segfault was injected" in said
    assert "the fault process-segfault never struck" in said
