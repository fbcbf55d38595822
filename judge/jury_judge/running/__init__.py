"""Runs while they are executed, seen and stopped from any process."""
