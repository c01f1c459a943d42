"""What decides who goes next: one strategy per file, behind the protocol of `strategy.py`."""
