"""Bindings to inference runtimes: one file per runtime, `base.py` holds the contract."""
