"""Debates and runs side by side, and counts of debates by a field."""
