"""Several clients, and models that remember."""
