import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from service_fakes import GUARD, task, value_of

from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError
from harness.service.journal import FileJournal, JournalError, inputs_digest
from harness.service.queue import SerialQueue
from harness.service.requests import RequestClass

MUST = (RequestClass(name="must", journal=True),)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


@pytest.fixture
def journal(path):
    made = FileJournal(path)
    yield made
    made.close()


def refs(journal):
    return [entry.payload_ref for entry in journal.pending()]


def reopened(path):
    again = FileJournal(path)
    try:
        return refs(again), frozenset(again._finished)
    finally:
        again.close()


def open_queue(runtime, journal, capacity=4):
    return SerialQueue(runtime.open, ServiceConfig(capacity=capacity, classes=MUST, journal=journal))


def submit(queue, value, ref=None):
    return queue.submit(task(value), request_class="must", payload_ref=ref or f"orders/{value}")


def test_a_task_is_pending_until_its_run_has_ended(runtime, journal, path):
    runtime.hold(1)
    with open_queue(runtime, journal) as queue:
        future = submit(queue, 1)
        runtime.wait_inside(1)
        assert reopened(path) == (["orders/1"], frozenset())
        runtime.let_go(1)
        assert value_of(future.result(GUARD)) == 2.0
        assert reopened(path) == ([], {"orders/1"}), "on the disk before anybody sees the outcome"


def test_a_finished_task_never_runs_again(runtime, journal):
    with open_queue(runtime, journal) as queue:
        submit(queue, 1).result(GUARD)
        with pytest.raises(JournalError, match="it does not run again"):
            submit(queue, 1)
    assert runtime.order == [1.0]


def test_a_task_in_flight_is_not_accepted_twice(runtime, journal):
    runtime.hold(1)
    with open_queue(runtime, journal) as queue:
        submit(queue, 1)
        with pytest.raises(JournalError, match="in flight"):
            submit(queue, 1)
        runtime.let_go(1)


def test_an_abort_leaves_tasks_pending_and_they_can_be_resumed_at_once(runtime, journal):
    runtime.hold(1)
    queue = open_queue(runtime, journal)
    running, waiting = submit(queue, 1), submit(queue, 2)
    runtime.wait_inside(1)
    waiting.add_done_callback(lambda _: runtime.let_go(1))
    queue.close(drain=False)
    assert waiting.cancelled()
    assert value_of(running.result(0)) == 2.0
    assert refs(journal) == ["orders/2"]
    with open_queue(runtime, journal) as again:
        for entry in journal.pending():
            assert value_of(submit(again, 2, entry.payload_ref).result(GUARD)) == 4.0
    assert refs(journal) == []


def test_a_clients_cancel_finishes_a_task(runtime, journal, path):
    runtime.hold(0)
    with open_queue(runtime, journal) as queue:
        queue.submit(task(0))
        runtime.wait_inside(0)
        future = submit(queue, 1)
        assert future.cancel()
        with pytest.raises(CancelledError):
            future.result(0)
        assert reopened(path) == ([], {"orders/1"})
        runtime.let_go(0)


def test_a_refused_task_is_forgotten_but_not_one_that_an_earlier_process_accepted(runtime, path):
    earlier = FileJournal(path)
    earlier.accepted("orders/7", inputs_digest(task(7)))
    earlier.close()
    journal = FileJournal(path)

    class Racing(dict):
        def items(self):
            queue.submit(task(1))  # the last place goes while the inputs are copied
            return super().items()

    for value in (2, 7):
        runtime.hold(0)
        with open_queue(runtime, journal, capacity=1) as queue:
            queue.submit(task(0))
            runtime.wait_inside(0)
            with pytest.raises(QueueFullError):
                queue.submit(Racing(task(value)), request_class="must", payload_ref=f"orders/{value}")
            runtime.let_go(0)
    journal.close()
    assert reopened(path) == (["orders/7"], frozenset())


def test_a_task_is_resumed_with_the_inputs_it_was_accepted_with(runtime, journal):
    journal.accepted("orders/7", inputs_digest(task(7)))
    journal.released("orders/7")
    with open_queue(runtime, journal) as queue:
        with pytest.raises(JournalError, match="inputs are not those"):
            submit(queue, 8, "orders/7")
        assert value_of(submit(queue, 7).result(GUARD)) == 14.0


def test_what_cannot_be_journalled_has_not_succeeded(runtime, journal, monkeypatch):
    with open_queue(runtime, journal) as queue:
        runtime.hold(1)
        future = submit(queue, 1)
        runtime.wait_inside(1)

        def full(_descriptor):
            raise OSError("no space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            runtime.let_go(1)
            assert isinstance(future.exception(GUARD), OSError)
    assert refs(journal) == ["orders/1"]


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_line_that_a_crash_cut_off_was_never_written(path, cut):
    journal = FileJournal(path)
    journal.accepted("a", "digest")
    journal.finished("a")
    journal.accepted("b", "digest")
    journal.close()
    path.write_bytes(path.read_bytes()[:-cut])
    again = FileJournal(path)
    assert refs(again) == []
    again.accepted("c", "digest")
    again.close()
    assert reopened(path) == (["c"], {"a"})


def test_damage_before_the_end_is_told(path):
    journal = FileJournal(path)
    journal.accepted("a", "digest")
    journal.accepted("b", "digest")
    journal.close()
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)
    with pytest.raises(JournalError, match="damaged"):
        FileJournal(path)


def test_options_belong_together(runtime, journal):
    with pytest.raises(ValueError, match="needs a journal"):
        ServiceConfig(capacity=1, classes=MUST)
    with open_queue(runtime, journal) as queue:
        with pytest.raises(ValueError, match="payload_ref"):
            queue.submit(task(1), request_class="must")
        with pytest.raises(ValueError, match="no deadline"):
            queue.submit(task(1), request_class="must", payload_ref="a", deadline=1.0)


PROGRAM = """
import os, signal, sys, threading
sys.path[:0] = {path!r}
from service_fakes_program import FakeRuntime, task
from harness.service.config import ServiceConfig
from harness.service.journal import FileJournal
from harness.service.queue import SerialQueue
from harness.service.requests import RequestClass

journal = FileJournal({journal!r})
runtime = FakeRuntime()
all_in = threading.Event()
kill_in = int(sys.argv[1])
invoked = runtime.invoked
def invoke(value):
    all_in.wait()
    print(int(value), flush=True)
    if value == kill_in:
        os.kill(os.getpid(), signal.SIGKILL)
    invoked(value)
runtime.invoked = invoke
must = RequestClass(name="must", journal=True)
queue = SerialQueue(runtime.open, ServiceConfig(capacity=8, classes=(must,), journal=journal))
wanted = [entry.payload_ref for entry in journal.pending()] or sys.argv[2:]
futures = [queue.submit(task(float(ref)), request_class="must", payload_ref=ref) for ref in wanted]
all_in.set()
for future in futures:
    future.result()
queue.close()
"""


def test_a_killed_process_resumes_and_runs_no_finished_task_twice(tmp_path, path):
    (tmp_path / "service_fakes_program.py").write_text(Path(__file__).with_name("fake_session.py").read_text())
    program = textwrap.dedent(PROGRAM.format(path=[str(tmp_path), *sys.path], journal=str(path)))

    def run(*arguments):
        command = [sys.executable, "-c", program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    killed = run("3", "1", "2", "3", "4", "5")
    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout.split() == ["1", "2", "3"]
    resumed = run("0")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.split() == ["3", "4", "5"], "what was running is run again, what was finished is not"
    assert reopened(path) == ([], {"1", "2", "3", "4", "5"})
