"""Recorded debates done again under other settings."""
