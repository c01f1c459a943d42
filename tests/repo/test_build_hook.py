"""The hook that compiles the engine's core does so only where that is asked for, and never beside the sources."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hook(build, tmp_path):
    return build.CompiledCore(str(tmp_path), {}, None, None, str(tmp_path), "wheel")


def test_a_wheel_is_of_python_alone_unless_a_compiled_one_is_asked_for(build, hook, monkeypatch):
    monkeypatch.setattr(build, "WANTED", False)
    data = {"force_include": {}}
    hook.initialize("standard", data)
    assert (data, hook.dependencies()) == ({"force_include": {}}, [])


def test_an_editable_install_is_not_compiled(build, hook, monkeypatch):
    """Its compiled modules would stay while the sources change."""
    monkeypatch.setattr(build, "WANTED", True)
    with pytest.raises(RuntimeError, match="an editable install runs the sources"):
        hook.initialize("editable", {})


def test_what_does_not_compile_is_no_wheel(build, hook, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "WANTED", True)
    monkeypatch.setattr(build, "CORE", ("core",))
    (tmp_path / "harness" / "engine").mkdir(parents=True)
    (tmp_path / "harness" / "engine" / "core.py").write_text("def point(steps: int) -> int:\n    return f'{steps}'\n")
    with pytest.raises(RuntimeError, match=r"core does not compile:\n.*core\.py:2: error: Incompatible return value"):
        hook.initialize("standard", {"force_include": {}})


def test_no_compiled_part_asks_for_frames(build):
    """Compiled functions have none: what looks for its caller's would find another's. One knows, and says where."""
    for name in {*build.CORE} - {"instrument/runtime"}:
        tree = ast.parse((ROOT / "harness" / "engine" / f"{name}.py").read_text())
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not used & {"_getframe", "currentframe", "f_back"}, name
