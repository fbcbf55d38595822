"""Conventions of spans: each a table of names of attributes, and at most a few functions."""
