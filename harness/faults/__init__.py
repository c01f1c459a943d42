"""Faults: one family per file, a plan that arms them, and the catalogue."""
