"""Debates and runs of a store side by side. What compares is imported when it is used."""

from typing import TYPE_CHECKING

from jury_judge.records.open_store import OpenStore

if TYPE_CHECKING:
    from jury_judge.comparisons.comparing import ComparedDebates, ComparedRuns, Kind
    from jury_judge.settings.statistics import Count
    from jury_store.event_store import EventStore


class CompareRecords(OpenStore):
    """Comparisons."""

    async def compare(
        self, a: str, b: str, kind: "Kind | None" = None, *, flips: int | None = None, count: "Count | None" = None
    ) -> "ComparedDebates | ComparedRuns":
        """Two debates, or two runs: of debates their results and every seat's position in every round.

        Runs are joined by case, with the verdicts of both, what flipped, and the paired table with its tests.

        Args:
            a: the id of a debate, or of a run.
            kind: what they are, where an id is both a debate's and a run's.
            flips: of two runs, at most so many flips are listed; None: all.
            count: of two runs, what is counted under a scale of the panels' own; None: labels, where both runs are of
                one scale.

        Raises:
            NotComparable: an id is unknown, both kinds fit and `kind` is None, or they are of different kinds.
        """
        return await self._read(_compare, a, b, kind, flips=flips, count=count)


def _compare(
    store: "EventStore", a: str, b: str, kind: "Kind | None", *, flips: int | None, count: "Count | None"
) -> "ComparedDebates | ComparedRuns":
    from jury_judge.comparisons.comparing import ComparedRuns, compared

    found = compared(store, a, b, kind, flips=flips, count=count, strict=True)
    return _paired(store, found, count) if isinstance(found, ComparedRuns) else found


def _paired(store: "EventStore", found: "ComparedRuns", count: "Count | None") -> "ComparedRuns":
    """With the paired table, or why there is none. Simulated debates count, with a warning."""
    from jury_analysis.errors import AnalysisError
    from jury_events.errors import DebateNotFound
    from jury_judge.errors import ExtraMissing
    from jury_judge.extras import check_statistics
    from jury_judge.statistics.run_reports import computed_pairs

    try:
        check_statistics("the paired table of two runs")
        found_table = computed_pairs(store, found.compared.a.run_id, found.compared.b.run_id, count)
        return found._replace(paired=found_table)
    except (AnalysisError, DebateNotFound, ExtraMissing) as error:
        return found._replace(unpaired=str(error))
