"""Results as lines of a terminal."""
