"""The neighbour's session, on numpy: what it says of right answers, wrong ones, errors, and a session it opens anew."""

import numpy as np
import pytest

from adapters.base import RunError
from adapters.numpy_reference import NumpySession
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.observe.neighbour import Look
from harness.oracle.reference import compute
from harness.suite.plan import TargetSpec
from harness.worker import neighbour as module
from harness.worker.neighbour import NeighbourSession
from harness.worker.protocol import NeighbourParams

TARGET = TargetSpec("one", "numpy")
RIGHT = Look("match", "match")


@pytest.fixture(scope="module")
def asked():
    model = resolve(TARGET.model, load_adapter("numpy").suffixes)
    known = compute(TARGET, model, 1, 2)
    return NeighbourParams(TARGET, model.digest, known.recipes, known.answers), model


@pytest.fixture
def neighbour(asked):
    """One that has been looked at, so that a request is in flight."""
    made = NeighbourSession(*asked)
    assert made.look() == Look("match", "")
    yield made
    made.close()


def test_both_requests_are_answered_at_every_look(neighbour):
    assert [neighbour.look() for _ in range(3)] == [RIGHT] * 3


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (lambda array: array + 1, "garbage"),
        (lambda array: array * np.float32("nan"), "garbage"),
        (lambda array: array[:, :-1], "wrong-shape"),
    ],
)
def test_outputs_that_are_not_its_own(neighbour, monkeypatch, alter, said):
    answer_of = module.answer_of
    altered = lambda outputs: answer_of({name: alter(array) for name, array in outputs.items()})  # noqa: E731
    monkeypatch.setattr(module, "answer_of", altered)
    assert neighbour.look() == Look(said, said)
    monkeypatch.undo()
    assert neighbour.look() == RIGHT


def test_the_answer_to_the_other_request_is_told_from_garbage(neighbour, asked, monkeypatch):
    in_flight = asked[0].answers[1]
    monkeypatch.setattr(module, "answer_of", lambda _outputs: in_flight)
    assert neighbour.look() == Look("other", "match")


@pytest.mark.parametrize("error", [RunError("gone"), ValueError("gone"), MemoryError()])
def test_an_error_is_named_and_the_next_look_has_a_fresh_session(neighbour, monkeypatch, error):
    def fails(_self):
        raise error

    monkeypatch.setattr(NumpySession, "invoke", fails)
    said = f"error:{type(error).__name__}"
    assert neighbour.look() == Look(said, "match")
    monkeypatch.undo()
    assert neighbour.look() == Look("match", said)
    assert neighbour.look() == RIGHT


def test_what_the_oracle_cannot_tell_is_not_judged(asked):
    params, model = asked
    blind = NeighbourSession(NeighbourParams(TARGET, model.digest, params.recipes, ()), model)
    assert [blind.look() for _ in range(2)] == [Look("unjudged", ""), Look("unjudged", "unjudged")]
    blind.close()
    blind.close()
