"""Rules version 1."""
