"""A staged pipeline behind the service."""
