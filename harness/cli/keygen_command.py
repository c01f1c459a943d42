"""`racegate keygen`: make a key pair for signing receipts."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.output import UsageError, say
from reports.keys import KeyFileError, generate_key, key_id, load_public_key

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("path", nargs="?", type=Path, default=Path("racegate.pem"), help="private key (racegate.pem)")


def execute(args: argparse.Namespace) -> int:
    """Write both files and say what each is for."""
    try:
        public = generate_key(args.path)
        identity = key_id(load_public_key(public))
    except KeyFileError as error:
        raise UsageError(str(error)) from error
    say(f"private key  {args.path}  (mode 0600: keep it where receipts are signed, racegate run --key {args.path})")
    say(f"public key   {public}  (name it in the gate policy under [trust.NAME] keys)")
    say(f"key id       {identity}")
    return 0
