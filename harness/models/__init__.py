"""Models and the adapters that load them: references resolved to bytes, the built-in models, the local cache."""
