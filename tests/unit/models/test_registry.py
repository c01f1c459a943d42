"""Adapters by entry point, by module and by file."""

import tomllib
from pathlib import Path

import pytest

from adapters.numpy_reference import NumpyAdapter
from harness.models import registry
from harness.models.errors import UnknownAdapterError
from harness.models.registry import adapter_names, load_adapter

OWN = """
from adapters.numpy_reference import NumpyAdapter
class Mine(NumpyAdapter):
    name = "mine"
not_a_class = 3
"""


def refused(name: str) -> str:
    with pytest.raises(UnknownAdapterError) as caught:
        load_adapter(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_table_is_the_one_in_pyproject():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["racegate.adapters"] == registry._OURS


def test_every_name_loads_without_its_runtime():
    assert adapter_names()[:4] == ("numpy", "onnxruntime", "litert", "tflite")
    assert [load_adapter(name).name for name in ("numpy", "onnxruntime", "litert", "tflite")] == list(
        adapter_names()[:4]
    )


def test_by_module_and_by_file(tmp_path):
    assert isinstance(load_adapter("adapters.numpy_reference:NumpyAdapter"), NumpyAdapter)
    file = tmp_path / "my_adapter.py"
    file.write_text(OWN)
    assert load_adapter(f"{file}:Mine").name == "mine"
    assert type(load_adapter(f"{file}:Mine")) is type(load_adapter(f"{file}:Mine")), "a file is imported once"


def test_what_cannot_be_loaded(tmp_path):
    assert "numpy, onnxruntime, litert, tflite" in refused("tensorrt")
    assert "no such file" in refused(f"{tmp_path}/absent.py:Mine")
    assert "ModuleNotFoundError" in refused("no.such.module:Name")
    file = tmp_path / "broken.py"
    file.write_text("raise RuntimeError('first line\\nsecond line')")
    assert "RuntimeError: first line" in refused(f"{file}:Mine")
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    assert "is not a class that implements" in refused(f"{file}:not_a_class")
    assert "is not a class that implements" in refused(f"{file}:Absent")
    assert "no adapter is called" in refused(f"{file}:")
    assert "no adapter is called" in refused("")
