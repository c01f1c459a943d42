"""Joins engine, faults, observers, oracle and invariants into one run."""
