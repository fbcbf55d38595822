"""What the verdicts of ballots are: labels of the scale of their panels, or outcomes."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jury_cases.votes.words import VerdictWords
from jury_events.errors import EventError
from jury_events.verdict_scale import VerdictScale
from jury_judge.settings.statistics import Count
from jury_judge.stores.chosen_scale import ChosenScale, chosen_scale
from jury_judge.stores.debates import panel_of
from jury_judge.tables.scales_of_tables import Scales, distinct_scales
from jury_store.event_store import EventStore


class CountedWords(NamedTuple):
    """What the verdicts of ballots are.

    Attributes:
        words: the verdicts, and what words of later labels mean.
        chosen: the scale of the panels' own, if they have one, and what is counted of it.
        scales: all scales of the panels.
    """

    words: VerdictWords
    chosen: ChosenScale = ChosenScale()
    scales: Scales = ()


def counted_words(store: EventStore, ballots: pa.Table | Sequence[pa.Table], count: Count | None) -> CountedWords:
    """What is counted of these ballots. Of each panel one debate is read, where a ballot has a label of its own scale.

    Args:
        store: of the ballots, open for reading.
        ballots: a table or several, with the columns of `jury_analysis.ballots.OWN_WORDS` that are known.
        count: None: labels where all debates are of one scale.
    """
    tables = [ballots] if isinstance(ballots, pa.Table) else ballots
    if all("vote_label" not in one.column_names for one in tables):
        return CountedWords(VerdictWords())
    scales = [scale for one in tables for scale in _scales(store, one)]
    chosen = chosen_scale(scales, count)
    return CountedWords(VerdictWords.of_chosen(chosen.scale, chosen.counts), chosen, distinct_scales(scales))


def _scales(store: EventStore, ballots: pa.Table) -> list[VerdictScale | None]:
    """The scale of each panel; of one whose opening cannot be read nothing is known, which `jury verify` reports."""
    panels = ballots["panel"].cast(pa.string())
    found: list[VerdictScale | None] = []
    for name in pc.unique(panels).to_pylist():
        row = pc.index(panels, name).as_py() if name is not None else pc.index(pc.is_null(panels), value=True).as_py()
        try:
            found.append(panel_of(store, ballots["debate_id"][row].as_py()).panel.scale)
        except EventError:
            continue
    return found
