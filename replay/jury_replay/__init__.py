"""Recorded debates again: replay, verification, rescoring, regression, forks, cassettes and erasure. No provider."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
