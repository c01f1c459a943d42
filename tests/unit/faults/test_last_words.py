"""A death is put down to a fault that was said to strike, and to nothing that somebody else wrote."""

import os

import pytest

from harness.faults.last_words import injected_before, say_last_words


def test_what_is_said_is_understood():
    read, write = os.pipe()
    kept = os.dup(2)
    try:
        os.dup2(write, 2)
        say_last_words("process-abort")
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(write)
    with os.fdopen(read) as lines:
        assert injected_before(lines.read().splitlines()) == "process-abort"


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ((), ""),
        (("racegate: injects /home/somebody",), ""),
        (("not racegate: injects process-abort",), ""),
        (("racegate: injects slow-run", "racegate: injects process-abort", "terminate called"), "process-abort"),
    ],
)
def test_only_the_name_of_a_fault_at_the_beginning_of_a_line_counts(lines, fault):
    assert injected_before(lines) == fault
