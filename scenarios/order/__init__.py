"""Which task starts next."""
