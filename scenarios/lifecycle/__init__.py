"""Opening, draining, closing."""
