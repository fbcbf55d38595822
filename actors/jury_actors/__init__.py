"""Who does it: coordinator, jurors and clerk, as plain classes and as Ray actors."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
