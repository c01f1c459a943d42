import asyncio
import concurrent.futures
import math

import pytest

from adapters.base import ContractError, RunError
from harness.service.errors import (
    DeadlineExpiredError,
    QueueFullError,
    ReplacedError,
    RunBudgetError,
    ServiceClosedError,
    ServiceUnhealthyError,
    SlotLostError,
)
from harness.service.http_status import HttpAnswer, http_answer
from harness.service.memory_gate import MemoryPressureError


def told(**attributes):
    return type("TheirError", (Exception,), attributes)("text")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (None, 200),
        (QueueFullError("full"), 429),
        (ServiceClosedError("closed"), 503),
        (concurrent.futures.CancelledError(), 499),
        (asyncio.CancelledError(), 499),
        (TimeoutError(), 504),
        (concurrent.futures.TimeoutError(), 504),
        (RunBudgetError("budget"), 504),
        (SlotLostError("lost"), 503),
        (ServiceUnhealthyError("unhealthy"), 503),
        (DeadlineExpiredError("due"), 504),
        (ReplacedError("newer"), 429),
        (ContractError("input"), 400),
        (RunError("failed"), 500),
        (KeyboardInterrupt(), 500),
        (told(refusal="full"), 429),
        (told(refusal="closed"), 503),
        (told(refusal="unhealthy"), 503),
        (told(outcome="EXPIRED"), 504),
        (told(outcome="REPLACED"), 429),
        (told(outcome="CANCELLED"), 499),
        (told(refusal="something", outcome=3), 500),
        (MemoryPressureError("watermark", 2.0), 503),
        (MemoryPressureError("estimate", 2.0), 503),
        (MemoryPressureError("concurrency", 2.0), 429),
        (MemoryPressureError("too-large", None), 413),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_refusal_and_outcome_has_its_status(error, status):
    assert http_answer(error).status == status


@pytest.mark.parametrize(
    ("seconds", "header"),
    [
        (0.0, 1),
        (0.2, 1),
        (1.0, 1),
        (1.01, 2),
        (7, 7),
        (None, None),
        (math.inf, None),
        (math.nan, None),
        ("3", None),
        (True, None),
    ],
)
def test_retry_after_is_in_whole_seconds_and_never_too_early(seconds, header):
    error = told(refusal="full", retry_after=seconds)
    assert http_answer(error).retry_after == header


def test_retry_after_goes_with_a_refusal_alone():
    assert http_answer(told(outcome="EXPIRED", retry_after=3)) == HttpAnswer(504)
    assert http_answer(told(outcome="REPLACED", retry_after=3)) == HttpAnswer(429)
    assert http_answer(told(refusal="unhealthy", retry_after=3)) == HttpAnswer(503, 3)


def test_the_headers_are_ready_to_send():
    assert http_answer(MemoryPressureError("watermark", 1.5)).headers == {"Retry-After": "2"}
    assert http_answer(QueueFullError("full")).headers == {}
