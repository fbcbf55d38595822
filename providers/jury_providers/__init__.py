"""Providers of models: the interface, one module per protocol, the catalogue, prices, and simulated models."""
