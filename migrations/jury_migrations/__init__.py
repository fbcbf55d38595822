"""The schema of the store, made and upgraded by Alembic."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
