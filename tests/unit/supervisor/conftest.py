import sys
from pathlib import Path

import msgspec
import pytest

from adapters.base import ModelFile
from harness.suite.plan import Budget, Plan, ServiceSpec, TargetSpec
from harness.supervisor.journal import FORGETFUL
from harness.supervisor.run import Materials, run_plan
from harness.supervisor.switch import StopSwitch
from harness.verdict import SuiteRecord

AGENT = Path(__file__).with_name("fake_agent.py")
MODEL = ModelFile(name="fake.bin", suffix=".bin", data=bytes(range(256)) * 4096)


class Watched:
    """A watcher that keeps what it hears."""

    def __init__(self):
        self.heard = []

    def stage(self, target, service, text):
        self.heard.append(("stage", target, service, text))

    def execution(self, target, service, scenario, number):
        self.heard.append(("execution", target, service, scenario, number))

    def died(self, target, last_words):
        self.heard.append(("died", target, last_words))

    def finished(self, target, service, result):
        self.heard.append(("finished", target, service, result.scenario))


@pytest.fixture
def agent():
    """The command of the fake agent, with arguments."""
    return lambda **args: (
        sys.executable,
        str(AGENT),
        *(f"{key.replace('_', '-')}={value}" for key, value in args.items()),
    )


@pytest.fixture
def run(agent):
    """Run scenarios on the fake agent and return the records."""

    def go(
        *scenarios,
        services=("queue",),
        hang_after=5.0,
        switch=None,
        watcher=None,
        controls=(),
        jobs=2,
        workers=0,
        journal=FORGETFUL,
        **args,
    ):
        two_targets = args.pop("two_targets", False)
        target = TargetSpec("fake", "fake", command=agent(**args))
        plan = Plan(
            suite=SuiteRecord("test", "1"),
            targets=(target, msgspec.structs.replace(target, name="other")) if two_targets else (target,),
            services=tuple(ServiceSpec(name) for name in services),
            scenarios=scenarios,
            controls=controls,
            budget=Budget(executions=4),
            seed=7,
            hang_after_s=hang_after,
        )
        material = Materials(model=MODEL, controls={"builtin:fake": MODEL}, shared_state={"shared": True})
        found = run_plan(
            plan,
            {"fake": material, "other": material},
            watcher or Watched(),
            switch or StopSwitch(),
            jobs,
            workers,
            journal,
        )
        return list(found)

    return go


@pytest.fixture
def watched():
    return Watched()


@pytest.fixture
def open_fds():
    return lambda: {path.name for path in Path("/proc/self/fd").iterdir()}
