import importlib.util
import pathlib
import sys

import pytest

from harness.service.config import ServiceConfig
from harness.service.pool import SessionPool


# importlib mode gives tests no package: what they share is loaded once, by path, under a name of its own.
def _load(name, file):
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(file))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


_FAKES = _load("service_fakes", "fake_session.py")
_CONTROL = _load("under_control", "under_control.py")
_load("controlled_programs", "controlled_programs.py")


@pytest.fixture(scope="session")
def search():
    """Explores programs under the engine."""
    return _CONTROL.Search()


@pytest.fixture
def runtime():
    """A fake runtime; the test fails if a session was misused, at any time, on any thread."""
    made = _FAKES.FakeRuntime()
    yield made
    for gate in made.gates.values():
        gate.set()
    assert made.breaches == []
    assert all(session.closes == 1 for session in made.sessions), "every session is closed exactly once"
    assert all(session.opened_on is session.closed_on for session in made.sessions)


@pytest.fixture
def pools(runtime):
    """Makes pools on the fake runtime; at the end what is held is let go, and all are closed."""
    made = []

    def pool(kind=SessionPool, **config):
        made.append(kind(runtime.open, ServiceConfig(**{"capacity": 8, **config})))
        return made[-1]

    yield pool
    for gate in runtime.gates.values():
        gate.set()
    for each in made:
        each.close()
