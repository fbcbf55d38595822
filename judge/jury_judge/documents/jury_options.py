"""Further options of the documents' classes."""

from collections.abc import Mapping
from typing import TypedDict

from jury_judge.runs.panel_actors import Writing
from jury_judge.settings.jury import Budget, RuntimeSettings
from jury_judge.settings.store import Sources


class JuryOptions(TypedDict, total=False):
    """Further options of the documents' classes; see `Jury`."""

    store: str | None
    runtime: RuntimeSettings
    budget: Budget
    sources: Sources
    environ: Mapping[str, str] | None
    concurrency: int
    writing: Writing
