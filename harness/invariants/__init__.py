"""What must hold, and the pure functions that look for it in a history. See `docs/invariants.md`."""
