"""Whoever keeps an error keeps its frames: none of them may hold what is native."""

import gc

import pytest
from adapter_cases import adapter_or_skip, builtin, file_model, inputs

from adapters.base import AdapterError, ModelLoadError

pytestmark = pytest.mark.runtime

NATIVE = {"litert": "Interpreter", "tflite": "Interpreter", "onnxruntime": "InferenceSession"}
DESCRIBES = {
    "litert": "adapters.litert.session._spec",
    "tflite": "adapters.litert.session._spec",
    "onnxruntime": "adapters.onnxruntime.session.tensor_spec",
}


@pytest.fixture(params=NATIVE)
def runtime(request):
    return adapter_or_skip(request.param)


def alive(runtime):
    """How many native sessions there are, garbage or not: nothing may wait for the collector either."""
    return sum(type(each).__name__ == NATIVE[runtime.name] for each in gc.get_objects())


def refused(opening):
    with pytest.raises(AdapterError) as caught:
        opening()
    return caught.value


def no_numbers(*_):
    message = "a tensor that holds no numbers"
    raise ModelLoadError(message)


def test_of_a_model_that_is_refused_after_it_was_loaded(runtime, monkeypatch):
    gc.collect()
    before = alive(runtime)
    monkeypatch.setattr(DESCRIBES[runtime.name], no_numbers)
    kept = refused(lambda: runtime.open(builtin(runtime, "affine"), runtime.cpu_delegate, {}))
    assert str(kept) == "a tensor that holds no numbers"
    assert alive(runtime) == before


def test_of_an_option_that_the_model_does_not_allow(monkeypatch):
    runtime = adapter_or_skip("onnxruntime")
    import adapters.onnxruntime.session as sessions

    gc.collect()
    before = alive(runtime)
    real = sessions.tensor_spec

    def of_strings(tensor):
        spec = real(tensor)
        return type(spec)(name=spec.name, dtype="object", shape=spec.shape)

    monkeypatch.setattr(sessions, "tensor_spec", of_strings)
    kept = refused(lambda: runtime.open(builtin(runtime, "affine"), runtime.cpu_delegate, {"io_binding": True}))
    assert "io_binding" in str(kept)
    assert alive(runtime) == before


def test_of_a_run_that_fails_and_of_a_use_after_the_close(runtime):
    gc.collect()
    before = alive(runtime)
    session = runtime.open(builtin(runtime, "affine"), runtime.cpu_delegate, {})
    feeds = inputs(session)
    kept = [refused(lambda: session.run({}))]
    session.close()
    kept.append(refused(lambda: session.run(feeds)))
    assert alive(runtime) == before
    assert len(kept) == 2


def test_of_a_model_that_is_cut_short(runtime):
    gc.collect()
    before = alive(runtime)
    whole = builtin(runtime, "affine")
    kept = refused(lambda: runtime.open(file_model(whole.name, whole.data[:-100]), runtime.cpu_delegate, {}))
    assert isinstance(kept, ModelLoadError)
    assert alive(runtime) == before
