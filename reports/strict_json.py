"""A JSON parser for evidence: whatever two parsers could read differently is an error.

`json`, `msgspec` and `pydantic` all accept an object with the same key twice, and keep the last or the first as they
please. A gate that verifies one reading and decides on another can be fooled, so this pass comes first.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast

__all__ = ["MAX_BYTES", "MAX_DEPTH", "StrictJsonError", "loads"]

MAX_BYTES = 16 * 1024 * 1024
"""Receipts are a few hundred KiB; more is an attempt to exhaust the gate."""
MAX_DEPTH = 32
_MAX_INTEGER = 2**53 - 1
_MAX_DIGITS = 16


class StrictJsonError(ValueError):
    """The bytes are not JSON in the strict sense; the text says why in one line and quotes no content."""


def loads(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Parse UTF-8 JSON made of objects, arrays, strings, integers up to 2^53 - 1, booleans and null.

    Raises StrictJsonError for duplicate keys, NaN, Infinity, floats, lone surrogates, a byte order mark, nesting deeper
    than `max_depth`, more than `max_bytes`, text that ends early and text after the end.
    """
    if len(data) > max_bytes:
        _refuse(f"{len(data)} bytes, more than the limit of {max_bytes}")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_no_float,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError:
        _refuse("not UTF-8")
    except json.JSONDecodeError as error:
        _refuse(f"{error.msg} at byte {error.pos}, of {len(data)}")
    except RecursionError:
        _refuse(f"nested deeper than {max_depth} levels")
    _check_tree(value, max_depth)
    return value


def _refuse(reason: str) -> NoReturn:
    raise StrictJsonError(reason) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse("an object has the same key twice")
    return found


def _no_float(_: str) -> NoReturn:
    _refuse("a number with a fraction or an exponent: only integers are allowed")


def _no_constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON")


def _integer(text: str) -> int:
    # The length is checked first: int() of a million digits is slow, and Python refuses it with an error of its own.
    if len(text.lstrip("-")) > _MAX_DIGITS or abs(int(text)) > _MAX_INTEGER:
        _refuse("an integer beyond 2^53 - 1, which other parsers would round")
    return int(text)


def _check_tree(value: Any, max_depth: int) -> None:
    """Check depth and strings without recursion, so that the check itself cannot be overrun."""
    pending: list[tuple[Any, int]] = [(value, 0)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, str):
            _check_text(node)
            continue
        children = _children(node)
        if children and depth >= max_depth:
            _refuse(f"nested deeper than {max_depth} levels")
        pending.extend((child, depth + 1) for child in children)


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        return [*fields.keys(), *fields.values()]
    return cast("list[Any]", node) if isinstance(node, list) else []


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        _refuse("a string with half of a surrogate pair")
