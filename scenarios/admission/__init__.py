"""Admission to the queue."""
