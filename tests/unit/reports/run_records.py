"""Run records as a supervisor would hand them over: one that passes, one that fails, and their parts."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec.structs import replace

from harness.history import Event, History
from harness.verdict import (
    CapacityRecord,
    CellResult,
    Control,
    CopyRecord,
    DelegateRecord,
    DeviceRecord,
    Exploration,
    Failure,
    FaultTally,
    Finding,
    HarnessRecord,
    InvariantTally,
    Measured,
    PlacementRecord,
    RunRecord,
    RuntimeRecord,
    ServiceRecord,
    SlopeRecord,
    SuiteRecord,
    Verdict,
    Violation,
)

MODEL_BYTES = b"a model file"
MODEL = hashlib.sha256(MODEL_BYTES).hexdigest()
TOKEN = "rg1.1f0c2a9b7d34.5e6f7a8b.e-3_3-2"
MEASURED = Measured(
    copies=(
        CopyRecord("submit", "undecided", "the service did not hand the probe over: ValueError", not_observed=("a",)),
        CopyRecord(
            "lease",
            "no explicit copy",
            "same handle, and a time that does not grow with size",
            same_handle=True,
            hand_over=SlopeRecord(-1, -2, 3, 15),
            copy=SlopeRecord(120, 118, 130, 15),
            sizes=(65536, 1048576, 4194304),
            not_observed=("copies on the device's timeline",),
        ),
    ),
    capacity=CapacityRecord(90_000_000, 128, 128, 0, "a step", "resident memory", ("memory on a device",)),
)
INVARIANTS = ("own-output", "terminal-once", "no-delivery-after-cancel")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def tally(name: str, checked: int = 100, violated: int = 0, unknown: str = "") -> InvariantTally:
    return InvariantTally(name, checked, violated, unknown)


def cell(scenario: str, **changes: Any) -> CellResult:
    made = CellResult(
        scenario=scenario,
        scenario_digest=digest(scenario),
        model_digest=MODEL,
        verdict=Verdict.PASS,
        cell_digest=digest(f"cell {scenario}"),
        exercises=INVARIANTS,
        executions=100,
        decision_points=4200,
        seconds=0.25,
        exploration=Exploration("portfolio", "7"),
        faults=(FaultTally("wait-timeout", 3),),
        process_looks=3,
        invariants=tuple(tally(name) for name in INVARIANTS),
    )
    return replace(made, **changes)


def swapped_outputs() -> Failure:
    """Two workers on one interpreter: w2 binds t2 between w1's bind and invoke, and t1 gets t2's answer."""
    events: list[Event] = []

    def add(thread: str, kind: str, task: str | None = None, session: str | None = None, **attrs: Any) -> None:
        events.append(Event(len(events), 1000 * len(events), thread, kind, task, session, None, attrs))

    add("main", "service-open-begin", call=1, capacity=2, workers=2, running_cancel=False, tells_dequeue=False)
    add("main", "session-open-begin", None, "s1", call=2, fallback=False)
    add(
        "main",
        "session-open-end",
        None,
        "s1",
        call=2,
        answer="ok",
        requested="xnnpack",
        actual="xnnpack",
        fallback=False,
    )
    add("main", "service-open-end", call=1, answer="ok")
    for number, task in enumerate(("t1", "t2"), 3):
        add("client", "submit-begin", task, call=number)
        add("client", "submit-end", task, call=number, answer="accepted")
    add("worker-1", "bind-begin", "t1", "s1", call=5)
    add("worker-1", "bind-end", "t1", "s1", call=5, answer="ok", reached_runtime=True)
    add("worker-2", "bind-begin", "t2", "s1", call=6, handover="unordered")
    add("worker-2", "bind-end", "t2", "s1", call=6, answer="ok", reached_runtime=True)
    add("worker-1", "invoke-begin", "t1", "s1", call=5)
    add("worker-1", "invoke-end", "t1", "s1", call=5, answer="ok")
    add("worker-1", "fetch-begin", "t1", "s1", call=5)
    add("worker-1", "fetch-end", "t1", "s1", call=5, answer="ok")
    add("client", "deliver", "t1", outcome="SUCCEEDED", output="other-task:t2", via="result")
    add("client", "wait-begin", "t2", call=7, timeout_ms=-1)
    add("worker-2", "invoke-begin", "t2", "s1", call=6)
    add("harness", "stuck", waits_for="future of t2", holder="worker-2", role="client")
    add("harness", "quiescent")
    add("client", "pending", "t2")
    history = History("controlled", tuple(events))
    return Failure(
        violations=(
            Violation("own-output", "t1 was delivered the output of t2", (8, 16)),
            Violation("terminal-once", "t2 never reached an outcome", (21,)),
        ),
        token=TOKEN,
        history_digest=history.digest(),
        execution=5,
        events=history.events,
        blocked=("client waits for the future of t2, which worker-2 holds",),
    )


def failing_cell(scenario: str = "many-clients") -> CellResult:
    return cell(
        scenario,
        verdict=Verdict.FAIL,
        executions=5,
        invariants=(tally("own-output", 9, 1), tally("terminal-once", 10, 1), tally("no-delivery-after-cancel", 0)),
        failures=(swapped_outputs(),),
        findings=(Finding("shared-session", "s1 was used by worker-1 and worker-2"),),
    )


def control() -> Control:
    failing = replace(failing_cell("unsafe-shared"), model_digest=digest("permutation"))
    return Control("unsafe-shared", Verdict.FAIL, "own-output", failing)


def run(**changes: Any) -> RunRecord:
    """A run that the policy of `gate_cases.py` allows."""
    made = RunRecord(
        run_id="20261129T180000Z-ort-cpu-queue",
        target="ort-cpu",
        started_on="2026-11-29T18:00:00Z",
        finished_on="2026-11-29T18:01:00Z",
        mode="controlled",
        attempt=1,
        model_name="magika.onnx",
        model_digest=MODEL,
        seed="7",
        runtime=RuntimeRecord("onnxruntime", "1.32.0", "Release", {"libonnxruntime.so": digest("so")}, {"threads": 1}),
        delegate=DelegateRecord(
            requested="CPUExecutionProvider",
            actual="CPUExecutionProvider",
            graph_nodes=12,
            placement=(PlacementRecord("CPUExecutionProvider", 12, 1),),
            evidence="graph assignment info",
        ),
        device=DeviceRecord(
            device_class="linux-x86_64-cpu",
            os="Linux",
            kernel="6.1",
            cpu_arch="x86_64",
            cpu_model="A processor",
            cpu_cores=2,
            cpu_isa=("avx2", "sse4_2"),
            memory_mib=7900,
            accelerators=(),
            cgroup_limits={"cpu.max": "max"},
            virtualized="kvm",
        ),
        service=ServiceRecord(
            name="queue",
            source_digest=digest("queue.py"),
            kind="queue",
            capacity=4,
            slots=1,
            overflow="refuse",
            close_behaviour="drain",
            delegate_behaviour="fail",
            capabilities=("running_cancel", "deadline"),
            configuration={"capacity": 4},
        ),
        suite=SuiteRecord("release", "1"),
        harness=HarnessRecord("0.1.0", digest("harness"), dirty=False, python="3.11.7"),
        cells=(
            cell("many-clients"),
            cell("queue-full"),
            cell(
                "model-switch", verdict=Verdict.NOT_APPLICABLE, requires=("model_switch",), executions=0, invariants=()
            ),
        ),
        controls=(control(),),
    )
    return replace(made, **changes)


def failing_run() -> RunRecord:
    cells = (
        failing_cell(),
        cell(
            "hidden-state",
            verdict=Verdict.UNKNOWN,
            reason="A then B differs from B alone: the model has hidden state",
            invariants=(tally("own-output", 4, unknown="the model has hidden state"),),
        ),
        cell("worker-dies", verdict=Verdict.CRASHED, reason="signal 11 (SIGSEGV)", executions=3, invariants=()),
        *run().cells[1:],
    )
    return run(run_id="20261129T180000Z-litert-unsafe", target="litert-cpu", cells=cells)


def change(run: RunRecord, part: str, **changes: Any) -> RunRecord:
    """A run with one of its records changed."""
    return replace(run, **{part: replace(getattr(run, part), **changes)})


def first_cell(run: RunRecord, **changes: Any) -> RunRecord:
    return replace(run, cells=(replace(run.cells[0], **changes), *run.cells[1:]))
