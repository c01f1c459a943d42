"""Deadlines, run budgets and runs that nobody waits for."""
