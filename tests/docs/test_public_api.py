"""The first part of docs/service.md is the whole public API of the queue and the pool, and fits on one page."""

import dataclasses
import inspect
import re
from concurrent.futures import Future
from pathlib import Path

import pytest

from harness.service import errors
from harness.service.config import ServiceConfig
from harness.service.future import InferenceFuture
from harness.service.pool import SessionPool
from harness.service.requests import RequestClass

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "service.md").read_text()
API = PAGE[: PAGE.index("## Four examples")]
MOST_LINES = 100
BETWEEN_PARTS = {
    "capabilities", "deserted", "ending", "forked", "give_up", "interrupt_ended", "known_bad", "take_turn", "turn",
    "wait_ended",
}  # fmt: skip
"""Of the service: what its runs, its asyncio front, the suite and the exit hook use, and no client."""
OF_A_FUTURE = {
    "accepted_at", "due", "end", "give_up", "has_callbacks", "label", "number", "run", "run_callbacks", "settle",
    "start", "started_at", "timer",
}  # fmt: skip
"""Of the future: what the service uses. Times are in its `Evidence`."""
A_USERS_OWN = {"options"}
"""Of the configuration: for services other than ours."""


def words(text):
    return {word for span in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", span)}


def public(kind, *, beyond=object):
    return {name for name in dir(kind) if not name.startswith("_") and not hasattr(beyond, name)}


def test_it_is_one_page():
    assert len(API.splitlines()) <= MOST_LINES


def test_whatever_a_client_may_use_is_there():
    assert public(SessionPool) - words(API) == BETWEEN_PARTS - {"turn"}
    assert public(InferenceFuture, beyond=Future) - words(API) == OF_A_FUTURE
    assert {field.name for field in dataclasses.fields(ServiceConfig)} - words(API) == A_USERS_OWN
    assert {field.name for field in dataclasses.fields(RequestClass)} <= words(API)
    assert set(errors.__all__) - words(PAGE) == {"ServiceError"}


@pytest.mark.parametrize("call", ["submit", "close", "switch"])
def test_a_call_takes_what_the_page_says(call):
    (said,) = re.findall(rf"^\| `{call}\((.*)\)` \|", API, re.MULTILINE)
    names = [name.partition("=")[0].strip() for name in said.split(",")]
    taken = [name for name in inspect.signature(getattr(SessionPool, call)).parameters if name not in {"self", "turn"}]
    assert [name for name in names if name != "*"] == taken


def test_the_first_lines_run_as_they_are():
    (program,) = re.findall(r"```python\n(.*?)```", API, re.DOTALL)
    made = {}
    exec(program, made)
    assert made["outputs"]["y"].shape == (1, 16)
    assert made["pool"].state == "closed"


def test_the_four_examples_are_shown():
    for name in ("camera", "button", "batch_job", "voice_assistant"):
        assert f"](examples/{name}.py)" in PAGE
        assert f"$ python docs/examples/{name}.py\n" in PAGE
