"""Reads a flatbuffer table by table, checking every offset, so that damaged bytes end here and not in native code.

It follows the FlatBuffers verifier (every vtable, table, vector and string inside the buffer, offsets forward and
aligned, a limit on tables against blow-up), with the schema as data: field names to slots and kinds.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["DamagedError", "Field", "Reader", "Scalar", "Table", "TableSchema", "Tables", "Text", "Union", "Vector"]

_MOST_TABLES = 1_000_000
_BUILTIN_SIZES = {"b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8}


class DamagedError(ValueError):
    """The bytes break the format. The text says where, in words of the schema."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number; `code` is its `struct` letter."""

    code: str
    default: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of numbers. Bytes (`B`) are checked and come back as their length: they can be most of the file."""

    code: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table inside another."""

    schema: TableSchema


@dataclass(frozen=True, slots=True)
class Tables:
    """A vector of tables."""

    schema: TableSchema


@dataclass(frozen=True, slots=True)
class Union:
    """A table whose schema depends on another field; a type that is not listed is checked as an opaque table."""

    type_field: str
    schemas: Mapping[int, TableSchema]


Field: TypeAlias = Scalar | Text | Vector | Table | Tables | Union
TableSchema: TypeAlias = Mapping[str, tuple[int, Field]]
"""Field name to slot and kind. A union stands after its type field."""


class Reader:
    """Checks and reads one buffer. Every method raises DamagedError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._tables = 0

    def root(self, schema: TableSchema, identifier: bytes) -> dict[str, Any]:
        """Read the root table of a buffer with this file identifier."""
        if self._data[4:8] != identifier:
            message = f"no {identifier.decode()} identifier"
            raise DamagedError(message)
        return self._table(self._follow(0, "root"), schema, "root")

    def _table(self, at: int, schema: TableSchema, where: str) -> dict[str, Any]:
        self._tables += 1
        if self._tables > _MOST_TABLES:
            message = "too many tables"
            raise DamagedError(message)
        slots, size = self._vtable(at, where)
        values: dict[str, Any] = {}
        for name, (slot, field) in schema.items():
            offset = slots[slot] if slot < len(slots) else 0
            values[name] = self._field(at, offset, size, field, values, f"{where}.{name}")
        return values

    def _vtable(self, at: int, where: str) -> tuple[tuple[int, ...], int]:
        """The offsets of the table's fields, and its inline size."""
        start = at - self._number("i", at, where)
        length, size = self._number("H", start, where), self._number("H", start + 2, where)
        if length < 4 or length % 2 or size < 4:  # noqa: PLR2004 - two sizes of two bytes each; the offset to the vtable
            message = f"{where}: damaged vtable"
            raise DamagedError(message)
        self._span(start, length, where)
        self._span(at, size, where)
        slots = struct.unpack_from(f"<{length // 2 - 2}H", self._data, start + 4)
        if any(offset >= size for offset in slots):
            message = f"{where}: a field outside its table"
            raise DamagedError(message)
        return slots, size

    def _field(self, at: int, offset: int, size: int, field: Field, seen: dict[str, Any], where: str) -> Any:
        if not offset:
            return field.default if isinstance(field, Scalar) else None
        width = _BUILTIN_SIZES[field.code] if isinstance(field, Scalar) else 4
        if offset + width > size:
            message = f"{where}: outside its table"
            raise DamagedError(message)
        if isinstance(field, Scalar):
            return self._number(field.code, at + offset, where)
        return self._reference(self._follow(at + offset, where), field, seen, where)

    def _reference(
        self, target: int, field: Text | Vector | Table | Tables | Union, seen: dict[str, Any], where: str
    ) -> Any:
        match field:
            case Text():
                return self._text(target, where)
            case Vector():
                return self._vector(target, field.code, where)
            case Table():
                return self._table(target, field.schema, where)
            case Tables():
                return self._vector_of_tables(target, field.schema, where)
            case Union():
                return self._table(target, field.schemas.get(seen[field.type_field], {}), where)

    def _text(self, at: int, where: str) -> str:
        length = self._number("I", at, where)
        self._span(at + 4, length + 1, where)
        if self._data[at + 4 + length]:
            message = f"{where}: a string without its end"
            raise DamagedError(message)
        return self._data[at + 4 : at + 4 + length].decode(errors="replace")

    def _vector(self, at: int, code: str, where: str) -> Any:
        length = self._number("I", at, where)
        width = _BUILTIN_SIZES[code]
        self._span(at + 4, length * width, where)
        if (at + 4) % width and length:
            message = f"{where}: not aligned"
            raise DamagedError(message)
        return length if code == "B" else struct.unpack_from(f"<{length}{code}", self._data, at + 4)

    def _vector_of_tables(self, at: int, schema: TableSchema, where: str) -> list[dict[str, Any]]:
        length = self._number("I", at, where)
        self._span(at + 4, length * 4, where)
        places = range(at + 4, at + 4 + length * 4, 4)
        return [self._table(self._follow(place, where), schema, f"{where}[{i}]") for i, place in enumerate(places)]

    def _follow(self, at: int, where: str) -> int:
        """The target of the offset stored here: forward, aligned, and inside."""
        target = at + (step := self._number("I", at, where))
        if not step or target % 4:
            message = f"{where}: damaged offset"
            raise DamagedError(message)
        self._span(target, 4, where)
        return target

    def _number(self, code: str, at: int, where: str) -> int:
        self._span(at, _BUILTIN_SIZES[code], where)
        return struct.unpack_from(f"<{code}", self._data, at)[0]

    def _span(self, at: int, length: int, where: str) -> None:
        if at < 0 or at + length > len(self._data):
            message = f"{where}: outside the file, which may be cut short"
            raise DamagedError(message)
