"""Statistics over ballots and labels: pure functions over Arrow tables. No database, no Ray, no files."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
