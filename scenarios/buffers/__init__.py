"""Who owns inputs and outputs."""
