"""A jury inside the tools where people work: scorers, assertions, metrics and evaluators, one module a tool."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
