"""docs/fault-matrix.md: what each fault does to our queue and our pool on each runtime, from one execution of each.

    python tests/end_to_end/fault_matrix.py ADAPTER [FAULT SERVICE]

prints one JSON line for each service and fault. A fault that may kill its process has a process of its own.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "fault-matrix.md"
ADAPTERS = {"numpy": "numpy", "onnxruntime": "ONNX Runtime", "litert": "LiteRT", "tflite": "tflite-runtime"}
SERVICES = {"queue": 1, "pool": 2}
TASKS = 6
SECONDS = 300
HANGS = ("lost-fence", "native-hang", "run-hang")
BEGIN, END = "<!-- matrix: begin -->", "<!-- matrix: end -->"


def measure(adapter, *only):
    """Print what each fault does, or one on one service. Without `only`, those that this process survives."""
    from harness.engine.install import install

    install()
    from harness.faults.catalogue import FAMILIES

    beside = Beside(adapter)
    bench = Bench(adapter, beside.process)
    chosen = [only] if only else [(name, service) for name in survived(FAMILIES) for service in SERVICES]
    for name, service in chosen:
        print(json.dumps({"fault": name, "service": service, **bench.cell(FAMILIES[name], service)}), flush=True)  # noqa: T201 - its output
    beside.close()


def survived(families):
    """The faults that no process dies of; of a cap on its memory a runtime may."""
    return sorted(name for name, family in families.items() if not family.kills and name != "memory-cap")


class Beside:
    """Another process on the same target, but for numpy, which has no device."""

    def __init__(self, adapter):
        from harness.models.reference import resolve
        from harness.models.registry import load_adapter
        from harness.suite.plan import TargetSpec
        from harness.supervisor.neighbour import NO_DEVICE, NeighbourProcess
        from harness.supervisor.oracle import Oracles, Question
        from harness.supervisor.staff import Staff
        from harness.supervisor.switch import StopSwitch

        self.process = None
        if adapter == NO_DEVICE:
            return
        target = TargetSpec(adapter, adapter)
        staff, model = (
            Staff(target, float(SECONDS), StopSwitch()),
            resolve(target.model, load_adapter(adapter).suffixes),
        )
        expected = Oracles().ask(staff, model, Question(seed=1, tasks=2))
        self.process = NeighbourProcess(staff, model)
        problem = self.process.ready(expected)
        assert not problem, problem

    def served(self):
        """How it is now."""
        return "" if self.process is None else elsewhere([self.process.look("after").answers])

    def close(self):
        """End it."""
        if self.process is not None:
            self.process.close()


def elsewhere(looks):
    """How another process was served at each look."""
    answers = [answer for look in looks for answer in look if answer not in {"", None, "match"}]
    return f", other process {' and '.join([*dict.fromkeys(answers), *([] if answers else ['served'])])}"


class Bench:
    """Runs cells of one adapter in this process."""

    def __init__(self, adapter, neighbour=None):
        self.neighbour = neighbour
        from harness.models.reference import resolve
        from harness.models.registry import load_adapter
        from harness.oracle.reference import compute
        from harness.suite.plan import TargetSpec

        self.target = TargetSpec(adapter, adapter)
        self.model = resolve(self.target.model, load_adapter(adapter).suffixes)
        self.expectations = compute(self.target, self.model, 1, 2 * TASKS)

    def cell(self, family, service):
        """Execute the script once with the fault, and say what came of it."""
        from harness.suite.plan import FaultSpec

        # The second run is struck, so that there is one before it; of what is opened and closed, the first.
        nth = 2 if family.point in {"bind", "invoke", "fetch"} and not family.needs_previous else 1
        script = struck_while_others_wait(everybody=family.name not in HANGS)
        self._execute(script, service, ())
        before = held()
        execution, reason = self._execute(script, service, (FaultSpec(family.name, family.point, nth=nth),))
        missed = (
            [] if execution is None else [each.message for each in execution.findings if each.kind == "fault-missed"]
        )
        if reason or missed:
            return {"reason": reason or missed[0]}
        return {**told(execution), "back": back(execution, before)}

    def _execute(self, scenario, service, faults):
        from harness.engine.strategies.scripted import Scripted
        from harness.execution.cell import CellRun
        from harness.suite.plan import Cell, ServiceSpec

        spec = ServiceSpec(service, slots=SERVICES[service])
        cell = Cell(scenario.id, self.target, spec, self.model.digest, faults=faults)
        run = CellRun(cell, scenario, self.model, self.expectations, neighbour=self.neighbour)
        try:
            if run.not_applicable:
                return None, run.not_applicable
            return run.laboratory.execute(Scripted(), 0), ""
        finally:
            run.laboratory.close()


def struck_while_others_wait(*, everybody):
    """A task, then three at once, then two more: the fault strikes among the three, or at an opening or a close.

    `everybody`: each worker gets one of the last two. One that still hangs gets none.
    """
    from harness.scenario import scenario

    @scenario(exercises=(), tasks=TASKS)
    def fault_matrix(script):
        service = script.open_service(fallback=True, run_budget=10.0, capacity=4)
        service.submit(script.task()).result()
        tasks = [service.submit(script.task()) for _ in range(3)]
        for task in tasks:
            task.result()
        gate = script.hold("invoke", None if everybody else 0)
        last = [service.submit(script.task()) for _ in range(2)]
        if everybody:
            gate.wait(service.workers)
        gate.open()
        for task in last:
            task.result()
        service.close()

    return fault_matrix


def held():
    """What this process holds: threads and file descriptors."""
    gc.collect()
    return threading.active_count(), len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


def back(execution, before):
    """What is not as it was; `yes` if all is."""
    from harness.invariants.catalogue import check_all
    from harness.invariants.index import Index

    index = Index(execution.history)
    wrong = [id_ for id_, judged in check_all(execution.history).items() if judged.violations]
    wrong += sorted({finding.kind for finding in execution.findings} - {"native-missed"})
    opened = [session for session in index.sessions.values() if session.opened and session.opened.answered("ok")]
    wrong += [f"{session.name} was not closed" for session in opened if not session.closes]
    now = held()
    if now != before:
        wrong.append(f"threads and files {now}, not {before}")
    return ", ".join(wrong) or "yes"


def told(execution):
    """How the hit and its neighbours ended, and how long the way back was."""
    from harness.invariants.index import Index

    history = execution.history
    index = Index(history)
    strikes = index.of("fault-injected")
    if not strikes:
        return {"hit": "", "neighbours": "", "steps": ""}
    struck = {event.task for event in strikes if event.task}
    others = [task for task in index.tasks.values() if task.accepted and task.id not in struck]
    seen = [(event.attrs.get("in_flight"), event.attrs["fresh"]) for event in index.of("process-look")]
    fine = sum(task.outcome == "SUCCEEDED" and task.delivers[0].attrs["output"] == "match" for task in others)
    hit = " and ".join(dict.fromkeys(outcome(index.tasks[name]) for name in sorted(struck)))
    return {
        "hit": hit or whole(index, strikes[0]),
        "neighbours": f"{fine} of {len(others)}{elsewhere(seen) if seen else ''}",
        "steps": way_back(history.events, strikes[0]),
    }


def outcome(task):
    """How one task ended."""
    if not task.delivers:
        return "never ended" if task.accepted else "refused"
    attrs = task.delivers[0].attrs
    detail = attrs.get("error") or str(attrs.get("output", "")).replace("match", "own output")
    return f"{task.outcome} {detail}".strip()


def whole(index, strike):
    """What became of an opening or a close."""
    if strike.attrs["point"] == "session-close":
        answers = [str(call.end.attrs.get("error") or "returned") for call in index.closes if call.end]
        return f"close() {', '.join(answers)}"
    if not all(call.answered("ok") for call in index.service_opens):
        return "the service does not open"
    fallbacks = sum(bool(call.begin.attrs["fallback"]) for call in index.opens)
    return f"opens, {fallbacks} on the fallback" if fallbacks else "opens"


def way_back(events, strike):
    """How many session calls the struck worker made until a run of its own that began after the strike was through."""
    mine = [event for event in events if event.seq > strike.seq and event.thread == strike.thread]
    begun, steps = set(), 0
    for event in mine:
        if event.kind == "bind-begin":
            begun.add(event.attrs["call"])
        steps += event.kind in {
            "session-open-begin",
            "session-close-begin",
            "bind-begin",
            "invoke-begin",
            "fetch-begin",
        }
        if event.kind == "fetch-end" and event.attrs["answer"] == "ok" and event.attrs["call"] in begun:
            return str(steps)
    return "-"


def run(adapter, *only):
    """Measure in a process of its own; what it printed, and how it ended."""
    command = [sys.executable, __file__, adapter, *only]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done


def matrix():
    """(fault, service, adapter) -> the cell, for all of them."""
    from harness.faults.catalogue import FAMILIES

    cells = {}
    for adapter in ADAPTERS:
        beside = Beside(adapter)
        rows, done = run(adapter)
        assert done.returncode == 0, f"{adapter}: {done.stderr[-2000:]}"
        for row in rows:
            cells[row["fault"], row["service"], adapter] = shown(row)
        for fault in sorted(set(FAMILIES) - set(survived(FAMILIES))):
            for service in SERVICES:
                rows, done = run(adapter, fault, service)
                cells[fault, service, adapter] = shown(rows[0]) if rows else killed(done, beside.served())
        beside.close()
    return cells


def shown(row):
    """One cell."""
    if row.get("reason"):
        return f"no: {row['reason']}"
    if not row["hit"]:
        return "no: nothing here for it to strike"
    return f"{row['hit']}; {row['neighbours']}; {row['steps']}; {row['back']}"


def killed(done, elsewhere):
    """The cell of a fault that ended the process."""
    assert done.returncode, "it printed nothing"
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    how = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit {done.returncode}"
    return f"the process dies ({how}); with it{elsewhere}; a fresh worker; yes"


def render(cells):
    """The table."""
    lines = [f"| fault | service | {' | '.join(ADAPTERS.values())} |", f"|{'---|' * (2 + len(ADAPTERS))}"]
    for fault in sorted({fault for fault, _, _ in cells}):
        for service in SERVICES:
            row = [cells[fault, service, adapter] for adapter in ADAPTERS]
            lines.append(f"| `{fault}` | {service} | {' | '.join(row)} |")
    return "\n".join(lines)


def read():
    """(fault, service) -> the cells of the page, in the order of ADAPTERS."""
    table = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines() if "`" in line]
    return {(row[0].strip("`"), row[1]): row[2:] for row in rows}


def write(table):
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest}", encoding="utf-8")


def refresh():
    """Measure all and write the page; returns the cells."""
    cells = matrix()
    write(render(cells))
    return cells


if __name__ == "__main__":
    measure(*sys.argv[1:])
