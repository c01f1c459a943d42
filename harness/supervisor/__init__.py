"""Starts workers, owns their deadlines, survives their deaths and collects what they found."""
