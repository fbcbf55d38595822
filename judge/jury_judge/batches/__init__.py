"""Runs whose calls go through the batches of providers."""
