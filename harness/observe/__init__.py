"""Observers at the boundaries that the harness owns: the recorder, and the wrapped opener, session and calls."""
