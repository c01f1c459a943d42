"""The model is switched under load."""
