"""The digest of a service's source covers the user's own modules behind its factory."""

from __future__ import annotations

import sys

from harness.execution.services import load_factory
from harness.suite.plan import ServiceSpec

FACTORY = "import json\nfrom {name} import Queue\n\n\ndef factory(open_session, config):\n    return Queue()\n"


def digest(folder, name, text, monkeypatch):
    (folder / f"{name}.py").write_text(text)
    (folder / "factory.py").write_text(FACTORY.format(name=name))
    monkeypatch.syspath_prepend(str(folder))
    for loaded, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[loaded]
    sys.path_importer_cache.clear()
    return load_factory(ServiceSpec(f"{folder}/factory.py:factory")).source_digest


def test_another_queue_behind_the_same_factory_is_another_source(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first = digest(tmp_path, "queue_behind", "class Queue:\n    bound = 1\n", monkeypatch)
    again = digest(tmp_path, "queue_behind", "class Queue:\n    bound = 1\n", monkeypatch)
    other = digest(tmp_path, "queue_behind", "class Queue:\n    bound = 12\n", monkeypatch)
    assert first == again != other
