"""The handle on a library: who is let go, and which library an adapter loads."""

import threading

import pytest
from native_cases import answer, truth

from harness.faults.native import NativeFaults

pytestmark = pytest.mark.runtime


def test_one_instance_is_let_go_and_the_other_stays(native):
    sessions, answers = [native.open(), native.open()], []
    newest = native.faults.counters().newest_instance
    native.faults.arm("hang", times=2)
    threads = [
        threading.Thread(target=lambda s=session, n=number: answers.append((n, answer(s, n))))
        for number, session in enumerate(sessions)
    ]
    for thread in threads:
        thread.start()
    assert native.faults.wait_held(2)
    native.faults.let_go(newest)
    threads[1].join(10)
    assert answers == [(1, truth(1))]
    assert native.faults.counters().held == 1
    native.faults.let_go()
    threads[0].join(10)
    assert answers == [(1, truth(1)), (0, truth(0))]


def test_a_library_is_found_by_the_adapter_that_loads_it(native):
    found = NativeFaults.of(native.name)
    assert found is not None
    assert found.path == native.faults.path
    assert ("prepare" in found.points) == (native.name != "onnxruntime")
    assert {"create", "init", "invoke", "destroy"} <= set(found.points)
    assert NativeFaults.of("numpy") is None
