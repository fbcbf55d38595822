"""Cassettes: one debate in one file, to keep, to pass on, to verify without the store that it comes from."""
