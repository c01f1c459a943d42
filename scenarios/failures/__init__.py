"""Injected failures."""
