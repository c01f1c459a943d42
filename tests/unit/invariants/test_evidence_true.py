import pytest

ID = "evidence-true"
MS = 1_000_000


@pytest.fixture
def queue(controlled):
    """A queue that tells what it takes; t1 runs on slot0 since 3 ms, and t2 waits since 4 ms."""
    controlled.service(tells_dequeue=True)
    controlled.open()
    for ms, task in ((1, "t1"), (4, "t2")):
        controlled.now_ms = ms
        controlled.submit(task)
        if task == "t1":
            controlled.now_ms = 2
            controlled.mark("dequeue", "w1", task)
            controlled.mark("lease-begin", "w1", task, slot="slot0")
            controlled.now_ms = 3
            controlled.call = controlled.begin("invoke", "w1", task, "s1", controlled.bind(task))
    controlled.now_ms = 6
    return controlled


RUNS = {"accepted_at": 1 * MS, "started_at": 2 * MS, "waits_for": "slot0", "held_by": "slot0"}
WAITS = {"accepted_at": 4 * MS, "started_at": None, "waits_for": "a slot", "held_by": "queue"}


def told(book, call, kind, task, **attrs):
    said = {"at": 5 * MS, "queue_depth": 1, "busy": "slot0:t1", **attrs}
    if kind == "incident":
        stages = "accepted" if said["started_at"] is None else "accepted started"
        said = {"error": "TimeoutError", "how": "wait-ended", "names": task, "stages": stages, "payload": False} | said
    book.mark(kind, "main", task, call=call, **said)


def look(book, *tell, **ring):
    call = book.begin("look")
    for kind, task, attrs in tell:
        told(book, call, kind, task, **attrs)
    book.end(call, answer="told", **{"distinct": True, "ordered": True, "payload": False, "untold": "", **ring})


def end(book):
    book.end(book.call, answer="ok")
    book.step(book.call, "fetch")
    book.deliver("t1", via="result")
    book.cancel("t2")
    book.deliver("t2", "CANCELLED", via="result")
    book.mark("quiescent")


def test_nobody_looked(queue):
    end(queue)
    assert queue.judge(ID).checked == 0


def test_what_is_so_holds(queue):
    look(queue, ("evidence", "t1", RUNS | {"at": 6 * MS}), ("evidence", "t2", WAITS | {"at": 6 * MS}))
    end(queue)
    assert queue.broken(ID) == []
    assert queue.judge(ID).checked == 2


@pytest.mark.parametrize(
    ("task", "change", "says"),
    [
        ("t1", {"held_by": "queue"}, "has it wait for slot0 with its buffers held by queue, and it ran on slot0"),
        ("t1", {"waits_for": "slot1", "held_by": "slot1"}, "wait for slot1 with its buffers held by slot1"),
        ("t1", {"started_at": None}, "does not tell that it has started"),
        ("t1", {"started_at": 7 * MS}, "has it started when it had not"),
        ("t1", {"busy": ""}, "does not count slot0, on which it ran, among the busy ones"),
        ("t2", {"held_by": "slot0"}, "and it was in the queue"),
        ("t2", {"started_at": 5 * MS}, "has it started when it had not"),
        ("t2", {"accepted_at": None}, "does not tell when it was accepted"),
        ("t2", {"accepted_at": 5 * MS}, "has it accepted outside its submit"),
        ("t2", {"queue_depth": 2}, "has 2 in the queue, and it was 1 to 1"),
    ],
)
def test_each_part_of_the_evidence_is_compared(queue, task, change, says):
    said = (RUNS if task == "t1" else WAITS) | {"at": 6 * MS} | change
    look(queue, ("evidence", task, said))
    end(queue)
    assert [message for message in queue.broken(ID) if says in message and task in message]


def test_evidence_of_a_task_that_ended_waits_for_nothing(queue):
    queue.cancel("t2")
    ended = WAITS | {"at": 6 * MS, "queue_depth": 0}
    look(queue, ("evidence", "t2", ended | {"waits_for": None, "held_by": "nobody"}))
    look(queue, ("evidence", "t2", ended))
    end(queue)
    assert queue.broken(ID) == ["the evidence of t2 has it wait for a slot, and it had ended"]


def in_vain(book, task):
    book.end(book.begin("wait", task=task, timeout_ms=1), answer="timed-out")
    book.now_ms += 1


@pytest.mark.parametrize(("task", "said"), [("t1", RUNS), ("t2", WAITS)])
def test_a_wait_in_vain_that_left_its_evidence_holds(queue, task, said):
    in_vain(queue, task)
    look(queue, ("incident", task, said))
    end(queue)
    assert queue.broken(ID) == []
    assert queue.judge(ID).checked == 1


def test_a_wait_in_vain_without_an_incident_breaks_it(queue):
    in_vain(queue, "t1")
    look(queue)
    end(queue)
    assert queue.broken(ID) == ["t1 was waited for in vain, and there was no incident of it"]


def test_a_look_at_what_a_task_is_doing_is_no_wait(queue):
    queue.end(queue.begin("wait", task="t1", timeout_ms=0), answer="timed-out")
    look(queue)
    end(queue)
    assert queue.broken(ID) == []


def test_an_incident_of_somebody_else_breaks_it(queue):
    in_vain(queue, "t2")
    look(queue, ("incident", "t1", RUNS))
    end(queue)
    assert queue.broken(ID) == ["the incident of t2 is one of t1"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"payload": True}, "an event holds more than numbers and names"),
        ({"names": "t2"}, "an incident of t2 has the evidence of t1"),
        ({"stages": "started accepted"}, "the stages of t1 are told as started, accepted"),
        ({"stages": "accepted"}, "an incident of t1 does not tell that it was started"),
    ],
)
def test_each_part_of_an_incident_is_compared(queue, change, says):
    in_vain(queue, "t1")
    look(queue, ("incident", "t1", RUNS | change))
    end(queue)
    assert says in queue.broken(ID)


@pytest.mark.parametrize(
    ("ring", "says"),
    [
        ({"payload": True}, "an event holds more than numbers and names"),
        ({"distinct": False}, "two tasks have the same name"),
        ({"ordered": False}, "the last events are not in order of time"),
        ({"untold": "t2"}, "no event tells that t2 was accepted"),
    ],
)
def test_the_ring_is_in_order_names_every_task_and_holds_no_payload(queue, ring, says):
    look(queue, **ring)
    end(queue)
    assert queue.broken(ID) == [says]


@pytest.mark.parametrize("there", [True, False])
def test_a_failure_is_kept_before_its_client_knows(queue, there):
    queue.end(queue.call, answer="error")
    queue.now_ms = 7
    queue.deliver("t1", "FAILED", error="RunError", foreign=False, via="result")
    failed = {"error": "RunError", "how": "failed", "at": 6 * MS + 1, "stages": "accepted started returned"}
    look(queue, *([("incident", "t1", RUNS | failed | {"waits_for": "delivery"})] if there else []))
    queue.cancel("t2")
    queue.mark("quiescent")
    assert queue.broken(ID) == ([] if there else ["t1 was FAILED, and there was no incident of it"])


def test_a_failure_that_does_not_tell_of_the_return_breaks_it(queue):
    queue.end(queue.call, answer="error")
    queue.now_ms = 7
    queue.deliver("t1", "FAILED", error="RunError", foreign=False, via="result")
    look(queue, ("incident", "t1", RUNS | {"error": "RunError", "how": "failed", "at": 6 * MS + 1}))
    queue.cancel("t2")
    queue.mark("quiescent")
    assert queue.broken(ID) == ["an incident of t1 does not tell that it was returned"]


def test_an_expiry_needs_an_incident_that_says_so(queue):
    queue.submit("t3", deadline_ms=1)
    queue.now_ms = 8
    queue.deliver("t3", "EXPIRED", expired_kind="queued", via="result")
    said = WAITS | {"accepted_at": 6 * MS, "at": 7 * MS, "queue_depth": 2}
    look(queue, ("incident", "t3", said | {"error": "LateError", "how": "expired"}))
    look(queue, ("incident", "t3", said | {"error": "LateError", "how": "ended"}))
    end(queue)
    assert queue.broken(ID) == ["t3 was EXPIRED, and there was no incident of it"]


def test_under_stress_it_is_unknown(stress):
    stress.service()
    look(stress)
    assert "controlled" in stress.judge(ID).unknown
