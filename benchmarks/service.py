"""The queue and the pool beside a bare loop, `ThreadPoolExecutor(1)` and a plain `queue.Queue` worker, in one run.

python benchmarks/service.py [--adapter onnxruntime] [--rounds 9] [--only throughput|latency|pool|memory] [--awake]

Everything is measured in rounds in which all take turns. Ratios are medians over rounds, latencies over all tasks. The
model is `builtin:slow`, a real run of the runtime whose length is set by an input and calibrated at the start. Memory
is measured with the numpy model `builtin:affine`, over 200,000 tasks.

A core that has nothing to do sleeps, and to wake it takes as long as a service does, twice a task: `--awake` keeps all
cores busy meanwhile, with processes that run where nobody else wants to (Linux).
"""

from __future__ import annotations

import argparse
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, Protocol

import numpy as np

from adapters.base import Adapter, Arrays, ModelFile, Session
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.memory_source import ProcessMemory
from harness.service.pool import SessionPool
from harness.service.queue import SerialQueue

WINDOW = 8
"""How many tasks are under way at a time while throughput is measured: the worker never waits for the client."""
LENGTHS_MS = (1.0, 10.0)
SECONDS = 0.3
"""About how long one service's turn takes."""
TASKS = 200_000
"""Tasks of the memory measurement."""


class Service(Protocol):
    """What is compared."""

    def submit(self, inputs: Arrays) -> Future[Any]:
        """Accept one task."""
        ...

    def close(self) -> None:
        """End."""


class Executor:
    """`ThreadPoolExecutor(1)` around one session. It copies nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._executor = ThreadPoolExecutor(1)

    def submit(self, inputs: Arrays) -> Future[Any]:
        """Submit the session's run."""
        return self._executor.submit(self._session.run, inputs)

    def close(self) -> None:
        """Join the worker and close the session."""
        self._executor.shutdown()
        self._session.close()


class CopyingExecutor(Executor):
    """The same, with a private copy of the inputs, as the service takes one."""

    def submit(self, inputs: Arrays) -> Future[Any]:
        """Copy, then submit."""
        return super().submit({name: value.copy() for name, value in inputs.items()})


class PlainQueue:
    """A `queue.Queue` and one worker that sets futures. It copies nothing, and handles neither cancel nor failure."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tasks: queue.Queue[tuple[Arrays, Future[Any]] | None] = queue.Queue()
        self._worker = threading.Thread(target=self._serve, daemon=True)
        self._worker.start()

    def submit(self, inputs: Arrays) -> Future[Any]:
        """Put the task."""
        future: Future[Any] = Future()
        self._tasks.put((inputs, future))
        return future

    def close(self) -> None:
        """Put the sentinel, join, close."""
        self._tasks.put(None)
        self._worker.join()
        self._session.close()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            inputs, future = task
            future.set_result(self._session.run(inputs))


class Timed(Session):
    """A session that notes how long its last run took, to tell a service's own share of the latency."""

    def __init__(self, inner: Session) -> None:
        self._inner = inner
        self.contract, self.identity, self.delegate = inner.contract, inner.identity, inner.delegate
        self.sharing, self.interrupt_grain = inner.sharing, inner.interrupt_grain
        self.fresh_outputs = inner.fresh_outputs
        self.took = 0.0

    def call(self, inputs: Arrays) -> Any:
        """As the inner session's."""
        return self._inner.call(inputs)

    def run(self, inputs: Arrays) -> dict[str, Any]:
        """Run, timed."""
        begun = time.perf_counter()
        outputs = self._inner.run(inputs)
        self.took = time.perf_counter() - begun
        return outputs

    def counters(self) -> Any:
        """As the inner session's."""
        return self._inner.counters()

    def close(self) -> None:
        """As the inner session's."""
        self._inner.close()


class Model:
    """A model on an adapter, with inputs that make a run as long as asked."""

    def __init__(self, adapter: Adapter, reference: str) -> None:
        self._adapter = adapter
        self._file: ModelFile = resolve(reference, adapter.suffixes)

    def open(self, *, fallback: bool = False) -> Session:
        """An opener, as services take it."""
        assert not fallback, "the default delegate starts"
        return self._adapter.open(self._file, self._adapter.default_delegate, {})

    def inputs(self, length: int = 1) -> Arrays:
        """Inputs whose integer ones are `length`."""
        with closing(self.open()) as session:
            specs = session.contract.inputs
        return {spec.name: _filled(spec.dtype, tuple(size or 1 for size in spec.shape), length) for spec in specs}

    def inputs_of(self, milliseconds: float) -> Arrays:
        """Inputs whose run takes about so long here."""
        with closing(self.open()) as session:
            known = 64
            took = statistics.median(_seconds(session, self.inputs(known)) for _ in range(20))
            return self.inputs(max(1, round(known * milliseconds / 1e3 / took)))


def _filled(dtype: str, shape: tuple[int, ...], length: int) -> Any:
    if np.issubdtype(np.dtype(dtype), np.integer):
        return np.full(shape, length, dtype)
    return np.random.default_rng(1).random(shape).astype(dtype)


def _seconds(session: Session, inputs: Arrays) -> float:
    begun = time.perf_counter()
    session.run(inputs)
    return time.perf_counter() - begun


@contextmanager
def closing(thing: Any) -> Generator[Any]:
    """Close at the end."""
    try:
        yield thing
    finally:
        thing.close()


def services(open_session: Callable[..., Session]) -> dict[str, Callable[[], Service]]:
    """The services that take turns."""
    return {
        "SerialQueue": lambda: SerialQueue(open_session, ServiceConfig(capacity=2 * WINDOW)),
        "ThreadPoolExecutor(1)": lambda: Executor(open_session()),
        "the same, copying": lambda: CopyingExecutor(open_session()),
        "queue.Queue worker": lambda: PlainQueue(open_session()),
    }


def loop_rate(session: Session, inputs: Arrays, tasks: int) -> float:
    """Tasks a second of a bare loop."""
    begun = time.perf_counter()
    for _ in range(tasks):
        session.run(inputs)
    return tasks / (time.perf_counter() - begun)


def service_rate(service: Service, inputs: Arrays, tasks: int) -> float:
    """Tasks a second with a window of tasks under way."""
    under_way: deque[Future[Any]] = deque()
    begun = time.perf_counter()
    for _ in range(tasks):
        if len(under_way) == WINDOW:
            under_way.popleft().result()
        under_way.append(service.submit(inputs))
    while under_way:
        under_way.popleft().result()
    return tasks / (time.perf_counter() - begun)


def warmed(make: Callable[[], Service], inputs: Arrays) -> Any:
    """A service that has run once, to be closed."""
    service = make()
    service.submit(inputs).result()
    return closing(service)


def throughput(model: Model, rounds: int) -> None:
    """Rates as a ratio of a bare loop's, in the same round."""
    print("\nthroughput, as a share of a bare loop over the session (median of rounds, middle half)")
    for length in LENGTHS_MS:
        inputs = model.inputs_of(length)
        tasks = max(10, round(SECONDS * 1e3 / length))
        ratios: dict[str, list[float]] = {}
        with ExitStack() as stack:
            session = stack.enter_context(closing(model.open()))
            made = {name: stack.enter_context(warmed(make, inputs)) for name, make in services(model.open).items()}
            loop_rate(session, inputs, tasks)
            for _ in range(rounds):
                for name, service in made.items():
                    # The loop is run on both sides of each, so that a machine that drifts favours neither.
                    before = loop_rate(session, inputs, tasks)
                    rate = service_rate(service, inputs, tasks)
                    loop = statistics.harmonic_mean([before, loop_rate(session, inputs, tasks)])
                    ratios.setdefault(name, []).append(rate / loop)
        _print_ratios(length, ratios)


def _print_ratios(length: float, ratios: dict[str, list[float]]) -> None:
    for name, values in ratios.items():
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"  {length:4.0f} ms  {name:22} {middle:.3f}  ({low:.3f} to {high:.3f})")


def latency(model: Model, rounds: int) -> None:
    """What a service adds to a run: from before submit to after result, less the run itself."""
    print("\nadded latency per task, one task at a time, microseconds (over all rounds)")
    for length in LENGTHS_MS:
        inputs = model.inputs_of(length)
        tasks = max(100, round(SECONDS * 1e3 / length))
        added: dict[str, list[float]] = {}
        with ExitStack() as stack:
            made = _timed(model, inputs, stack)
            for _ in range(rounds):
                for name, values in _added(made, inputs, tasks):
                    added.setdefault(name, []).extend(values)
        tails = {name: statistics.quantiles(values, n=100)[98] for name, values in added.items()}
        for name, values in added.items():
            ratio = tails[name] / tails["ThreadPoolExecutor(1)"]
            middle, tail = statistics.median(values) * 1e6, tails[name] * 1e6
            figures = f"median {middle:6.1f}   p99 {tail:7.1f}   p99 to the executor's {ratio:.2f}"
            print(f"  {length:4.0f} ms  {name:22} {figures}")


def _added(made: dict[str, tuple[Service, Timed]], inputs: Arrays, tasks: int) -> Iterator[tuple[str, list[float]]]:
    for name, (service, session) in made.items():
        added: list[float] = []
        for _ in range(tasks):
            begun = time.perf_counter()
            service.submit(inputs).result()
            added.append(time.perf_counter() - begun - session.took)
        yield name, added


def _timed(model: Model, inputs: Arrays, stack: ExitStack) -> dict[str, tuple[Service, Timed]]:
    sessions: list[Timed] = []

    def open_timed(*, fallback: bool = False) -> Session:
        sessions.append(Timed(model.open(fallback=fallback)))
        return sessions[-1]

    made: dict[str, tuple[Service, Timed]] = {}
    for name, make in services(open_timed).items():
        service = stack.enter_context(warmed(make, inputs))
        made[name] = (service, sessions[-1])
    return made


def pool(model: Model, rounds: int) -> None:
    """A pool of two beside one session, and beside what two threads with a session each get out of this machine."""
    print("\ntwo slots, as a multiple of a bare loop over one session (median of rounds, middle half)")
    for length in LENGTHS_MS:
        inputs = model.inputs_of(length)
        tasks = max(20, round(2 * SECONDS * 1e3 / length))
        ratios: dict[str, list[float]] = {"SessionPool, 2 slots": [], "two bare threads": []}
        for _ in range(rounds):
            with closing(model.open()) as session:
                loop = loop_rate(session, inputs, tasks // 2)
            two = ServiceConfig(capacity=2 * WINDOW, slots=2)
            with warmed(lambda two=two: SessionPool(model.open, two), inputs) as service:
                ratios["SessionPool, 2 slots"].append(service_rate(service, inputs, tasks) / loop)
            ratios["two bare threads"].append(_two_threads(model, inputs, tasks) / loop)
        _print_ratios(length, ratios)


def _two_threads(model: Model, inputs: Arrays, tasks: int) -> float:
    with closing(model.open()) as one, closing(model.open()) as other:
        for session in (one, other):
            session.run(inputs)
        threads = [threading.Thread(target=loop_rate, args=(each, inputs, tasks // 2)) for each in (one, other)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tasks // 2 * 2 / (time.perf_counter() - begun)


def memory(tasks: int) -> None:
    """Resident memory over many tasks: a slope, with its 95 % interval."""
    model = Model(load_adapter("numpy"), "builtin:affine")
    inputs, source = model.inputs(), ProcessMemory()
    every = max(1, tasks // 50)
    points: list[tuple[int, int]] = []
    begun = time.perf_counter()
    with closing(SerialQueue(model.open, ServiceConfig(capacity=2 * WINDOW))) as service:
        for number in range(0, tasks, every):
            service_rate(service, inputs, every)
            used = source.read().used
            assert used is not None, "this system tells no memory"
            points.append((number + every, used))
    points = points[len(points) // 10 :]  # a tenth to warm up: allocator, free lists, thread stacks
    slope, error = _line(points)
    growth = (points[-1][1] - points[0][1]) / 1024
    took = time.perf_counter() - begun
    print(f"\nmemory over {tasks:,} tasks of the numpy model, after the first tenth ({took:.0f} s)")
    low, high = (1000 * (slope + side * 1.96 * error) for side in (-1, 1))
    print(f"  slope {1000 * slope:+.2f} bytes in 1,000 tasks, 95 % within {low:+.2f} to {high:+.2f}")
    print(f"  first to last {growth:+.0f} KiB, at {points[-1][1] / 2**20:.0f} MiB")


def _line(points: list[tuple[int, int]]) -> tuple[float, float]:
    """The least-squares slope and its standard error, over batches: the residuals of neighbours are not independent."""
    batches = [points[start : start + 5] for start in range(0, len(points), 5)]
    x = np.array([np.mean([point[0] for point in batch]) for batch in batches])
    y = np.array([np.mean([point[1] for point in batch]) for batch in batches])
    slope, level = np.polyfit(x, y, 1)
    rest = y - (slope * x + level)
    spread = np.sqrt(np.sum(rest**2) / (len(x) - 2)) / np.sqrt(np.sum((x - x.mean()) ** 2))
    return float(slope), float(spread)


@contextmanager
def awake() -> Generator[None]:
    """Let no core sleep."""
    spin = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    command = [sys.executable, "-c", spin]
    spinning = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]  # noqa: S603 - our own
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def main() -> None:
    """Print the four tables."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--adapter", default="onnxruntime")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--only", choices=("throughput", "latency", "pool", "memory"))
    parser.add_argument("--awake", action="store_true", help="let no core sleep meanwhile")
    asked = parser.parse_args()
    model = Model(load_adapter(asked.adapter), "builtin:slow")
    parts: dict[str, Callable[[], None]] = {
        "throughput": lambda: throughput(model, asked.rounds),
        "latency": lambda: latency(model, asked.rounds),
        "pool": lambda: pool(model, asked.rounds),
        "memory": lambda: memory(asked.tasks),
    }
    with awake() if asked.awake else nullcontext():
        for name, measure in parts.items():
            if asked.only in {None, name}:
                measure()


if __name__ == "__main__":
    main()
