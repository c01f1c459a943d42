import numpy as np
import pytest

from harness.execution.tasks import overwrite


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), np.float32),
        np.ones((), bool),
        np.arange(6, dtype=">i2")[::2],
        np.array(["one", "two"]),
        np.asfortranarray(np.ones((2, 2))),
    ],
    ids=lambda array: array.dtype.str,
)
def test_every_value_is_written_over(array):
    before = array.copy()
    assert overwrite({"y": array})
    assert array.dtype == before.dtype
    assert all(one != other for one, other in zip(array.tobytes(), before.tobytes(), strict=True))


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("value", [{"y": read_only(np.ones(3))}, {"y": np.array([{}], object)}, None, [np.ones(3)], {}])
def test_what_cannot_be_written_to_is_said(value):
    assert not overwrite(value)


def test_one_that_can_be_written_to_is_enough():
    arrays = {"a": read_only(np.ones(3)), "b": np.ones(3)}
    assert overwrite(arrays)
    assert arrays["a"].tolist() == [1, 1, 1]
