"""`racegate gate`: the decision over receipts. Imports neither numpy nor a runtime."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from reports.gate.command import gate

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("--policy", type=Path, required=True, help="gate-policy.toml")
    parser.add_argument("--model", type=Path, action="append", required=True, help="the model that ships; repeatable")
    parser.add_argument("--out", type=Path, default=Path("decision.json"), help="where the decision goes")
    parser.add_argument("--challenge", help="the challenge that the receipts must answer")
    parser.add_argument("--advisory", action="store_true", help="decide, print WOULD DENY, and exit 0")
    parser.add_argument("receipts", type=Path, nargs="*", metavar="RECEIPT", help="a receipt, or its run's folder")


def execute(args: argparse.Namespace) -> int:
    """Decide, write the decision, then print it."""
    code, text = gate(
        args.policy,
        args.model,
        args.receipts,
        args.out,
        datetime.now(UTC),
        advisory=args.advisory,
        challenge=args.challenge,
    )
    (sys.stderr if code == 2 else sys.stdout).write(text)  # noqa: PLR2004 - exit code 2 is usage
    return code
