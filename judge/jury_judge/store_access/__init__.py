"""Stores: where they are created and opened for writing, and which of their debates count."""
