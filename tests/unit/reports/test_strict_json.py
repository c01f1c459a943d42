from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.strict_json import StrictJsonError, loads

REFUSED = {
    "duplicate key": (b'{"a":1,"a":1}', "same key twice"),
    "duplicate key, escaped": (b'{"a":1,"\\u0061":2}', "same key twice"),
    "duplicate key, deep": (b'[[{"b":{"a":1,"a":1}}]]', "same key twice"),
    "NaN": (b"[NaN]", "not JSON"),
    "Infinity": (b"[-Infinity]", "not JSON"),
    "float": (b"[1.0]", "only integers"),
    "exponent": (b"[1e3]", "only integers"),
    "beyond 2^53": (b"[9007199254740992]", "beyond"),
    "a million digits": (b"[" + b"1" * 1_000_000 + b"]", "beyond"),
    "33 deep": (b"[" * 33 + b"1" + b"]" * 33, "deeper"),
    "a million deep": (b"[" * 1_000_000, "deeper"),
    "deep objects": (b'{"a":' * 200_000, "deeper"),
    "trailing data": (b"{} {}", "Extra data"),
    "truncated": (b'{"a":', "Expecting value"),
    "empty": (b"", "Expecting value"),
    "not UTF-8": (b'"\xff"', "UTF-8"),
    "byte order mark": (b"\xef\xbb\xbf{}", "BOM"),
    "half a surrogate pair": (b'"\\ud800"', "surrogate"),
    "half a surrogate pair in a key": (b'{"\\ud800":1}', "surrogate"),
    "control character": (b'"\x01"', "control character"),
    "too long": (b'"' + b"a" * (16 * 1024 * 1024) + b'"', "more than the limit"),
}


@pytest.mark.parametrize(("data", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(data, says):
    with pytest.raises(StrictJsonError, match=says) as caught:
        loads(data)
    assert "\n" not in str(caught.value)


def test_accepted_up_to_the_limits():
    assert loads(b"[" * 32 + b"]" * 32) is not None
    assert loads(b"[9007199254740991,-9007199254740991]") == [2**53 - 1, 1 - 2**53]
    assert loads(b'{"a":[true,null,"\\ud83d\\ude00"]}') == {"a": [True, None, "\U0001f600"]}


json_data = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(json_data)
def test_reads_what_json_wrote(value):
    assert loads(json.dumps(value).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_or_the_one_error(data):
    with contextlib.suppress(StrictJsonError):
        loads(data)
