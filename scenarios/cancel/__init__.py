"""Cancel: queued, running, racing."""
