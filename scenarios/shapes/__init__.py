"""A model with dynamic dimensions: tasks of several shapes on one service."""
