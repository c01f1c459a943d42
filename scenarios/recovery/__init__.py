"""A device or a session fails, and the service recovers."""
