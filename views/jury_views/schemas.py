"""The published JSON Schemas, by name: of live events, and of statistics. Reading them needs no numpy."""

from jury_analysis.report_schemas import REPORTS, report_schema_text
from jury_views.live import schema


def schema_text(name: str) -> str:
    """The schema of that name, as JSON."""
    return report_schema_text(name) if name in REPORTS else schema.schema_text(name)
