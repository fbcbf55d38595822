"""Ballots and other results as Arrow tables and table files."""
