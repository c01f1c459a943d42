"""The right-hand column of an interleaving: file and line, each file's name once, and the text of the line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

__all__ = ["SourceColumn"]

_GOOD_TEXT, _LEAST_TEXT = 26, 12
_MOST_NAME = 20
_GAP = 2


class SourceColumn:
    """Written from the top: a row in the file of the row above it shows the line alone.

    `least` is the room that it wants in characters, 0 where no place is known. With less it leaves the text out.
    """

    def __init__(self, places: Sequence[str], lines: Mapping[str, str]) -> None:
        self._lines = lines
        self._labels = _labels([place for place in places if place])
        self._width = max((len(label) + len(line) for label, line in self._labels.values()), default=0)
        self._file = ""
        self.least = self._width + 2 * _GAP + (_GOOD_TEXT if lines else 0) if self._labels else 0

    def beside(self, place: str, room: int) -> str:
        """What stands beside the row with this place."""
        if not place:
            return ""
        label, line = self._labels[place]
        shown, self._file = "" if label == self._file else label, label
        text = self._lines.get(place, "").partition("  # ")[0]
        left = room - self._width - _GAP
        cut = text if len(text) <= left else f"{text[: left - 3]}..." if left >= _LEAST_TEXT else ""
        return f"{shown}{line}".rjust(self._width) + " " * _GAP + cut


def _labels(places: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The file's name and `:line` of each place."""
    names = _names({place.rpartition(":")[0] for place in places})
    return {place: (names[place.rpartition(":")[0]], f":{place.rpartition(':')[2]}") for place in places}


def _names(files: set[str]) -> dict[str, str]:
    """The shortest name of each file that no other one has: cut, whole, or with its folder."""
    names = {file: file for file in files}
    for shorten in (_without_folder, _cut):
        shorter = {file: shorten(name) for file, name in names.items()}
        taken = Counter(shorter.values())
        names = {file: shorter[file] if taken[shorter[file]] == 1 else name for file, name in names.items()}
    return names


def _without_folder(name: str) -> str:
    return name.rpartition("/")[2]


def _cut(name: str) -> str:
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 4]}~{name[-3:]}"
