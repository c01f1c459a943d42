"""What a service meets outside of its process, in the hands of a script: its journal's disk, and the memory."""

from __future__ import annotations

from harness.observe.world import World
from harness.service.journal import LineJournal
from harness.service.memory_source import MemoryReading

__all__ = ["MEMORY_LIMIT", "RecordedJournal", "ScriptedMemory"]

MEMORY_LIMIT = 1_000
"""In bytes, of which a request is estimated to need one: what is in use decides, not the requests."""


class RecordedJournal(LineJournal):
    """The built-in journal on a disk that remembers what was written, also the half of a line."""

    def __init__(self, world: World, disk: bytes = b"") -> None:
        super().__init__(disk)
        self._world = world
        self._disk = disk[: self.whole]

    def append(self, line: bytes) -> None:
        """Write the line in two steps, as a disk may: others may look, or the power may fail, between them."""
        half = len(line) // 2
        for part in (line[:half], line[half:]):
            self._world.shared(self, write=True)
            self._world.pause()
            self._disk += part

    def after_a_kill(self) -> RecordedJournal:
        """The journal that the next process opens."""
        self._world.shared(self, write=False)
        self._world.pause()
        return RecordedJournal(self._world, self._disk)

    def references(self) -> tuple[str, ...]:
        """The references of what is pending."""
        return tuple(entry.payload_ref for entry in self.pending())


class ScriptedMemory:
    """Says what the script says is in use."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._used = MEMORY_LIMIT // 2

    def use(self, share: float) -> None:
        """From now on this share is in use."""
        self._world.shared(self, write=True)
        self._used = round(MEMORY_LIMIT * share)

    def read(self) -> MemoryReading:
        """See `harness.service.memory_source.MemorySource`."""
        self._world.shared(self, write=False)
        return MemoryReading(source="the script", used=self._used, limit=MEMORY_LIMIT)
