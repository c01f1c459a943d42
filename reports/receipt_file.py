"""The name of the receipt in a run's folder: `reports.files` writes it and the gate reads it."""

from __future__ import annotations

__all__ = ["RECEIPT_FILE"]

RECEIPT_FILE = "receipt.dsse.json"
