import importlib.util
import pathlib
import sys

import pytest

# importlib mode gives tests no package: the fake is loaded once, by path, under a name of its own.
_SPEC = importlib.util.spec_from_file_location("service_fakes", pathlib.Path(__file__).with_name("fake_session.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_FAKES = importlib.util.module_from_spec(_SPEC)
sys.modules["service_fakes"] = _FAKES
_SPEC.loader.exec_module(_FAKES)


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
