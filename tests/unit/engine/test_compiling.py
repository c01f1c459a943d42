"""Which core runs, and that none runs which is not what the sources say."""

import hashlib
import importlib.util
import json
from types import SimpleNamespace

import pytest

from harness.engine.compiling import MANIFEST, SOME, StaleCoreError, core

SOURCE = SOME.as_posix()
LIBRARY = SOURCE.replace(".py", ".cpython-311-x86_64-linux-gnu.so")
TEXT = b"POINTS = 0\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An installation of one source; Python would import `found` for it, and `compiled` is what was recorded."""

    def install(found, compiled):
        (tmp_path / SOURCE).parent.mkdir(parents=True)
        (tmp_path / SOURCE).write_bytes(TEXT)
        if compiled is not None:
            (tmp_path / MANIFEST).write_text(json.dumps({SOURCE: compiled}))
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: SimpleNamespace(origin=str(tmp_path / found)))
        return tmp_path

    return install


@pytest.mark.parametrize(("found", "compiled", "named"), [(SOURCE, None, "interpreted"), (LIBRARY, DIGEST, "compiled")])
def test_a_core_is_named_that_is_what_its_sources_are(installed, found, compiled, named):
    assert core(installed(found, compiled)) == named


@pytest.mark.parametrize(
    ("found", "compiled"),
    [(LIBRARY, None), (LIBRARY, hashlib.sha256(b"POINTS = 1\n").hexdigest()), (SOURCE, DIGEST)],
    ids=["compiled, nobody knows from what", "compiled from another source", "not compiled any more"],
)
def test_any_other_is_refused(installed, found, compiled):
    with pytest.raises(StaleCoreError, match=r"scheduler\.py that is here: install racegate again"):
        core(installed(found, compiled))
