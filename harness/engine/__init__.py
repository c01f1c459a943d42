"""Controlled execution: one thread runs at a time, and a strategy decides who goes next at every decision point."""
