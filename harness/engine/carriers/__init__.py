"""What a controlled thread runs on: one file per kind, behind the protocol of `carrier.py`."""
