"""A reference leads to a model's bytes, or to one line that says what is wrong and what to do."""

import os

import pytest

from harness.models.errors import ModelNotFoundError
from harness.models.reference import PUBLISHED, builtin_names, resolve

ONNX = (".onnx",)


def refused(reference: str, suffixes=ONNX) -> str:
    with pytest.raises(ModelNotFoundError) as caught:
        resolve(reference, suffixes)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_file(tmp_path):
    file = tmp_path / "Model.ONNX"
    file.write_bytes(b"bytes")
    model = resolve(str(file), ONNX)
    assert (model.name, model.suffix, model.data) == ("Model.ONNX", ".onnx", b"bytes")


def test_missing_empty_folder_and_odd_names(tmp_path):
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "folder.onnx").mkdir()
    assert "no such file" in refused(str(tmp_path / "absent.onnx"))
    assert "empty" in refused(str(tmp_path / "empty.onnx"))
    assert "folder" in refused(str(tmp_path / "folder.onnx"))
    assert "not a file name" in refused("a\0b.onnx")
    assert refused("")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every file")
def test_unreadable(tmp_path):
    file = tmp_path / "locked.onnx"
    file.write_bytes(b"x")
    file.chmod(0)
    assert "cannot be read" in refused(str(file))


def test_wrong_format_names_the_right_ones(tmp_path):
    file = tmp_path / "model.tflite"
    file.write_bytes(b"x")
    assert ".onnx" in refused(str(file))


def test_builtin_models_are_there_in_every_format():
    assert builtin_names() == (
        "affine",
        "constant",
        "permutation",
        "permutation-2",
        "rows",
        "slow",
        "stateful",
    )
    for name in builtin_names():
        for suffix in (".json", ".onnx", ".tflite"):
            model = resolve(f"builtin:{name}", (suffix,))
            assert (model.name, model.suffix) == (f"{name}{suffix}", suffix)
            assert 0 < len(model.data) < 20_000


def test_preferred_suffix_comes_first():
    assert resolve("builtin:affine", (".tflite", ".onnx")).suffix == ".tflite"


@pytest.mark.parametrize("name", ["nothing", "../builtin/affine", "", "affine.onnx"])
def test_unknown_builtin_lists_the_known(name):
    assert "permutation" in refused(f"builtin:{name}")


def test_builtin_in_no_format_of_the_adapter():
    assert ".bin" in refused("builtin:affine", (".bin",))


def test_published_models_have_the_form_of_references():
    from harness.models.package import PackageFile

    for suffix, reference in PUBLISHED.items():
        assert PackageFile.parse(reference).path.endswith(suffix)
        assert PackageFile.parse(reference).reference == reference
