"""Named scripts, one hazard per file, grouped in folders; suites choose among them."""
