"""Reading an adapter's options strictly: what no adapter took is an error, so that a typo is not a default."""

from __future__ import annotations

from collections.abc import Iterable

from adapters.base import OptionError, Options

__all__ = ["OptionReader"]


class OptionReader:
    """Takes an adapter's options one by one; `finish` refuses what nobody took."""

    def __init__(self, options: Options) -> None:
        self._left = dict(options)
        self._known: list[str] = []

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Take a bool."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise _wrong_option(name, "true or false")
        return value

    def integer(self, name: str, *, default: int, low: int = 0) -> int:
        """Take an integer that is at least `low`."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise _wrong_option(name, f"an integer of at least {low}")
        return value

    def choice(self, name: str, *, default: str, allowed: Iterable[str]) -> str:
        """Take one of a few words."""
        value = self._take(name, default)
        if value not in (words := tuple(allowed)):
            raise _wrong_option(name, f"one of {', '.join(words)}")
        return str(value)

    def text(self, name: str, *, default: str = "") -> str:
        """Take a string."""
        value = self._take(name, default)
        if not isinstance(value, str):
            raise _wrong_option(name, "a string")
        return value

    def prefixed(self, prefix: str) -> dict[str, str]:
        """Take every option that starts with `prefix`, as text, without the prefix."""
        self._known.append(f"{prefix}*")
        names = [name for name in self._left if name.startswith(prefix)]
        return {name.removeprefix(prefix): str(self._left.pop(name)) for name in names}

    def finish(self) -> None:
        """Raise OptionError for an option that nobody took."""
        if self._left:
            message = f"unknown option {min(self._left)!r}; this adapter has: {', '.join(sorted(self._known))}"
            raise OptionError(message)

    def _take(self, name: str, default: bool | int | str) -> bool | int | str:  # noqa: FBT001 - an option's value
        self._known.append(name)
        return self._left.pop(name, default)


def _wrong_option(name: str, wanted: str) -> OptionError:
    return OptionError(f"option {name!r} must be {wanted}")
