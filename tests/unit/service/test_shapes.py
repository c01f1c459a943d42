import numpy as np
import pytest

from adapters.base import ContractError, RunError
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import Opening, ServiceConfig
from harness.service.pool import SessionPool
from harness.service.shapes import ShapePlan

PLAN = ShapePlan(least={"x": (1, 16)}, most={"x": (4, 16)}, buckets=({"x": (1, 16)}, {"x": (4, 16)}))


class Opened:
    """Sessions of the real reference adapter, with what each was asked to plan for."""

    def __init__(self):
        self.adapter = load_adapter("numpy")
        self.model = resolve("builtin:rows", self.adapter.suffixes)
        self.sessions = []
        self.planned = []
        self.fails = False

    def __call__(self, *, fallback=False):
        del fallback
        session = self.adapter.open(self.model, self.adapter.default_delegate, {})
        resize = session.resize

        def noted(shapes):
            if self.fails:
                raise RunError("no room")
            self.planned.append(shapes["x"])
            resize(shapes)

        session.resize = noted
        self.sessions.append(session)
        return session


def rows(count):
    return {"x": np.ones((count, 16), np.float32)}


def test_buckets_are_planned_when_a_slot_opens_the_first_one_last():
    opened = Opened()
    with SessionPool(opened, ServiceConfig(capacity=2, slots=2, shapes=PLAN)):
        assert opened.planned == [(4, 16), (1, 16)] * 2


def test_a_lazy_slot_plans_when_it_opens():
    opened = Opened()
    with SessionPool(opened, ServiceConfig(capacity=2, shapes=PLAN, opening=Opening.LAZY)) as pool:
        assert opened.planned == []
        assert pool.submit(rows(2)).result(10)["y"].shape == (2, 16)
        assert opened.planned == [(4, 16), (1, 16)]


def test_a_session_that_cannot_plan_is_released_and_not_used():
    opened = Opened()
    opened.fails = True
    with pytest.raises(RunError):
        SessionPool(opened, ServiceConfig(capacity=2, shapes=PLAN))
    (session,) = opened.sessions
    assert session.counters().live_contexts == 0


@pytest.mark.parametrize(
    ("count", "says"), [(5, "dimension 0 is 5, and 1 to 4 are served"), (0, "dimension 0 is 0, and 1 to 4 are served")]
)
def test_a_shape_that_is_not_served_is_refused_by_submit(count, says):
    with SessionPool(Opened(), ServiceConfig(capacity=1, shapes=PLAN)) as pool:
        with pytest.raises(ContractError, match=says):
            pool.submit(rows(count))
        with pytest.raises(ContractError, match="expected rank 2, got 1"):
            pool.submit({"x": np.ones(16, np.float32)})
        assert pool.counters().live_tasks == 0
        assert pool.submit(rows(3)).result(10)["y"].shape == (3, 16)


def test_without_a_plan_the_session_says_what_it_takes():
    with SessionPool(Opened(), ServiceConfig(capacity=1)) as pool:
        assert pool.submit(rows(9)).result(10)["y"].shape == (9, 16)
        assert isinstance(pool.submit({"x": np.ones((1, 3), np.float32)}).exception(10), ContractError)


@pytest.mark.parametrize(
    "bounds",
    [
        {"least": {"x": (1,)}, "most": {}},
        {"least": {"x": (1, 2)}, "most": {"x": (1,)}},
        {"least": {"x": (3,)}, "most": {"x": (2,)}},
        {"least": {"x": (0,)}, "most": {"x": (2,)}},
        {"least": {"x": (1,)}, "most": {"x": (2,)}, "buckets": ({"x": (3,)},)},
    ],
)
def test_bounds_that_no_shape_meets_are_refused(bounds):
    with pytest.raises(ValueError, match=r"input .x.|same inputs"):
        ShapePlan(**bounds)


def test_an_input_without_bounds_may_have_any_shape():
    ShapePlan(least={}, most={}).check({"x": np.ones(3)})
