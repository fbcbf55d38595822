"""Recorded debates as lines of a terminal."""
