import io
import json

import msgspec
import pytest

from harness.worker.loop import OperationError, operation, serve
from harness.worker.protocol import AdapterParams


def talk(operations, *lines):
    replies = io.BytesIO()
    status = serve(io.BytesIO(b"".join(lines)), replies, operations)
    return status, [json.loads(line) for line in replies.getvalue().splitlines()]


def request(number, op, **params):
    return json.dumps({"id": number, "op": op, "params": params}).encode() + b"\n"


def echo(params, _emit):
    return {"adapter": params.adapter}


def refuse(_params, _emit):
    raise OperationError(kind="usage", error_class="NoSuchThing", message="there is none")


def break_down(_params, _emit):
    message = "/home/alice/model.bin holds secret"
    raise KeyError(message)


def announce(_params, emit):
    for number in range(1000):
        emit(number)
    return {}


def look(_params, emit):
    return emit.look("after")


OPERATIONS = {
    "echo": operation(AdapterParams, echo),
    "refuse": operation(AdapterParams, refuse),
    "break": operation(AdapterParams, break_down),
    "announce": operation(AdapterParams, announce),
    "look": operation(AdapterParams, look),
}


def test_answers_carry_the_request_id_until_shutdown():
    status, replies = talk(OPERATIONS, request(1, "echo", adapter="a"), request(2, "shutdown"), request(3, "echo"))
    assert status == 0
    assert replies == [{"id": 1, "result": {"adapter": "a"}}, {"id": 2, "result": {}}]


def test_the_end_of_input_ends_the_worker():
    assert talk(OPERATIONS) == (0, [])


@pytest.mark.parametrize(
    ("line", "kind", "error_class"),
    [
        (request(1, "no-such-operation"), "protocol", "UnknownOperation"),
        (request(1, "echo", adapter=7), "protocol", "BadParameters"),
        (b"not json\n", "protocol", "BadRequest"),
        (b"[1]\n", "protocol", "BadRequest"),
        (request(1, "refuse", adapter="a"), "usage", "NoSuchThing"),
        (request(1, "break", adapter="a"), "defect", "KeyError"),
    ],
)
def test_an_error_is_data_and_the_worker_goes_on(line, kind, error_class):
    _, replies = talk(OPERATIONS, line, request(2, "echo", adapter="b"))
    assert (replies[0]["error"]["kind"], replies[0]["error"]["class"]) == (kind, error_class)
    assert replies[1] == {"id": 2, "result": {"adapter": "b"}}


def test_an_unclassified_error_says_where_but_not_what():
    _, replies = talk(OPERATIONS, request(1, "break", adapter="a"))
    text = json.dumps(replies)
    assert "test_loop line" in text
    assert "alice" not in text
    assert "secret" not in text


def test_the_first_execution_is_always_announced_and_the_rest_are_throttled():
    _, replies = talk(OPERATIONS, request(1, "echo", adapter="a"), request(2, "announce", adapter="a"))
    announced = [reply["progress"] for reply in replies if "progress" in reply]
    assert announced[0] == 0
    assert len(announced) < 100


def test_an_execution_after_a_pause_is_announced():
    import time

    def paused(_params, emit):
        emit(0)
        emit(1)
        time.sleep(0.006)
        emit(2)
        return {}

    _, replies = talk({"paused": operation(AdapterParams, paused)}, request(1, "paused", adapter="a"))
    assert [reply["progress"] for reply in replies if "progress" in reply] == [0, 2]


def test_a_supervisor_that_has_gone_ends_the_worker():
    class Gone(io.BytesIO):
        def write(self, _data):
            raise BrokenPipeError

    assert serve(io.BytesIO(request(1, "echo", adapter="a")), Gone(), OPERATIONS) == 1


def test_a_half_line_is_no_request():
    assert talk(OPERATIONS, request(1, "echo", adapter="a")[:-1]) == (0, [])


def test_a_line_feed_inside_a_string_does_not_end_a_line():
    _, replies = talk(OPERATIONS, request(1, "echo", adapter="two\nlines"))
    assert replies == [{"id": 1, "result": {"adapter": "two\nlines"}}]
    assert msgspec.json.decode(b'"\\n"') == "\n"


def test_a_look_is_answered_by_the_supervisor_before_the_result():
    answer = json.dumps({"id": 1, "op": "looked", "params": {"fresh": "match"}}).encode() + b"\n"
    status, replies = talk(OPERATIONS, request(1, "look", adapter="a"), answer, request(2, "shutdown"))
    assert status == 0
    assert replies[:2] == [{"id": 1, "look": "after"}, {"id": 1, "result": {"fresh": "match", "in_flight": ""}}]


def test_a_supervisor_that_goes_before_it_answers_a_look_ends_the_worker():
    status, replies = talk(OPERATIONS, request(1, "look", adapter="a"))
    assert (status, replies) == (1, [{"id": 1, "look": "after"}])
