"""Receipts, the gate and the reports: pure functions of recorded data. Nothing here runs a model or needs numpy."""
