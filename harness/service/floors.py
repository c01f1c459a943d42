"""Reserved starts: a class with a floor of 1/4 owns one start in every four, whatever else waits.

This is the pinwheel problem (Holte, Mok, Rosier, Tulchinsky and Varvel, 1989) in its simplest form, one fixed residue
for each class: start number n belongs to the class whose window divides it with the class's remainder. In any `window`
consecutive starts there is then exactly one of the class's own, however the other starts go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["Reservation", "reserve"]

Reservation = tuple[int, int]
"""A window and a remainder below it. A window of 0 reserves nothing."""


def reserve(floors: Sequence[float]) -> list[Reservation]:
    """Give each floor a window of at most 1/floor starts that meets no other's. Raises ValueError if that cannot be.

    A window may come out shorter than asked for: floors of 1/2 and 1/3 get every second start each, since windows of
    2 and 3 would claim one start in six both.
    """
    made: list[Reservation] = [(0, 0)] * len(floors)
    taken: list[Reservation] = []
    for index in sorted(range(len(floors)), key=lambda each: -floors[each]):
        if floors[index] > 0:
            made[index] = _free(int(1 / floors[index] + 1e-9), taken)
            taken.append(made[index])
    return made


def _free(longest: int, taken: Sequence[Reservation]) -> Reservation:
    for window in range(longest, 0, -1):
        for remainder in range(window):
            if all(_apart((window, remainder), other) for other in taken):
                return window, remainder
    message = "the floors of the request classes cannot all be kept: together they ask for more than every start"
    raise ValueError(message)


def _apart(one: Reservation, other: Reservation) -> bool:
    # The Chinese remainder theorem: both hold for some number just if the remainders agree modulo the windows' gcd.
    common = math.gcd(one[0], other[0])
    return one[1] % common != other[1] % common
