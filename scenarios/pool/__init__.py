"""Slots that open, fail and come back."""
