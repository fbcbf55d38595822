"""Debates of a store done again under other settings, taken out as files, and brought in."""
