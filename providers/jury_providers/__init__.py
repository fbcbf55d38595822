"""Providers of models: the interface, one module per protocol, the catalogue, prices, and simulated models."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
