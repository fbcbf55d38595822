"""Cases: files, rows of other systems' formats, artifact records, the bundled example."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
