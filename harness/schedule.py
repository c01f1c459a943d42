"""What makes an execution repeatable, and the one-line token that carries it."""

from __future__ import annotations

import msgspec

__all__ = ["ENGINE_VERSION", "KERNEL", "Schedule", "TokenError", "parse_token"]

ENGINE_VERSION = 1
KERNEL = -1
"""Stands for the thread number where the kernel itself decides: at the start, and after everybody was at rest."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CELL_DIGITS = 12
_CODE_DIGITS = 8


class TokenError(ValueError):
    """The text is not a replay token of this engine version."""


class Schedule(msgspec.Struct, frozen=True):
    """Where an execution left the default order, and which steps of its scenario it left out.

    The default keeps the running thread while it can run, then takes the runnable thread with the lowest number, then
    the earliest timer. `choices` holds (by, step, chosen) wherever the strategy decided otherwise: at step number
    `step` of thread number `by`, thread number `chosen` went on. Counted by thread, a choice keeps its meaning when
    others are left out. `cell` and `code` are hex digests, cut to 12 and 8 digits.

    `left_out` holds (actor, step): step number `step` of an actor was not made. Both are counted from 0, actors in the
    order in which they start; actor 0 is the script itself. Steps are submits, cancels, closes and the like, and the
    start of an actor. What the script expects is not judged when steps are left out.
    """

    cell: str
    code: str
    choices: tuple[tuple[int, int, int], ...]
    left_out: tuple[tuple[int, int], ...] = ()

    def token(self) -> str:
        """Write the schedule as one line without spaces, safe in a shell."""
        parts = [f"{_base36(actor)}-{_base36(step)}" for actor, step in self.left_out]
        parts += [f"{_base36(by - KERNEL)}-{_base36(step)}-{_base36(chosen)}" for by, step, chosen in self.choices]
        return f"rg{ENGINE_VERSION}.{self.cell}.{self.code}.{'_'.join(parts) or '0'}"


def parse_token(token: str) -> Schedule:
    """Read a token back. Raises TokenError with what is wrong with it."""
    fields = token.strip().split(".")
    if len(fields) != 4 or not fields[0].startswith("rg"):  # noqa: PLR2004 - the four fields of a token
        message = "a replay token has the form rg1.CELL.CODE.CHOICES"
        raise TokenError(message)
    if fields[0] != f"rg{ENGINE_VERSION}":
        message = f"the token is for engine {fields[0]!r}, this one is rg{ENGINE_VERSION}"
        raise TokenError(message)
    _, cell, code, choices = fields
    if len(cell) != _CELL_DIGITS or len(code) != _CODE_DIGITS:
        message = "the token's digests are cut short: copy it whole"
        raise TokenError(message)
    left_out: list[tuple[int, int]] = []
    taken: list[tuple[int, int, int]] = []
    try:
        for numbers in _numbers(choices):
            if len(numbers) == 2:  # noqa: PLR2004 - a step that is left out: actor and step
                left_out.append((numbers[0], numbers[1]))
            else:
                by, step, chosen = numbers
                taken.append((by + KERNEL, step, chosen))
    except ValueError:
        message = "the token's choices are damaged: copy it whole"
        raise TokenError(message) from None
    return Schedule(cell, code, tuple(taken), tuple(left_out))


def _numbers(text: str) -> list[list[int]]:
    parts = [] if text == "0" else text.split("_")
    return [[int(number, 36) for number in part.split("-")] for part in parts]


def _base36(number: int) -> str:
    digits = _DIGITS[number % 36]
    while number := number // 36:
        digits = _DIGITS[number % 36] + digits
    return digits
