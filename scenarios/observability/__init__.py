"""What a service says of itself."""
