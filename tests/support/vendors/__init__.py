"""Providers as clients meet them: plugged into a simulation server, which itself answers and nothing more."""
