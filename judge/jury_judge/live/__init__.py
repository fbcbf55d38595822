"""Live events of debates, read from the log while it grows."""
