"""The rules of a debate, pure: no clock, no randomness, no database, no model. Old rules versions stay for ever."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
