"""Whether labels or outcomes of recorded debates are counted: those of different scales are never counted together."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jury_cases.votes.words import VerdictWords
from jury_events.errors import EventError, SettingError
from jury_events.text.visible_text import visible_line
from jury_events.verdict_scale import VerdictScale
from jury_judge.settings.vote_sources import Count
from jury_judge.stores.debates import panel_of
from jury_store.event_store import EventStore

_SHOWN = 5


class CountedWords(NamedTuple):
    """What the verdicts of ballots are.

    Attributes:
        words: the verdicts, and what words of later labels mean.
        mixed: a line about debates under different scales, of which only outcomes can be counted; "" without them.
        counted: what is counted of which scale of the panels' own, with the digest; "" without one.
    """

    words: VerdictWords
    mixed: str = ""
    counted: str = ""


def counted_words(store: EventStore, ballots: pa.Table | Sequence[pa.Table], count: Count | None) -> CountedWords:
    """What is counted of these ballots. Of each panel one debate is read, where a ballot has a label of its own scale.

    Args:
        store: of the ballots, open for reading.
        ballots: a table or several, with the columns of `jury_analysis.ballots.OWN_WORDS` that are known.
        count: None: labels where all debates are of one scale.

    Raises:
        SettingError: labels are asked for, and the debates are judged in several scales.
    """
    tables = [ballots] if isinstance(ballots, pa.Table) else ballots
    if all("vote_label" not in one.column_names for one in tables):
        return CountedWords(VerdictWords())
    scales = [scale for one in tables for scale in _scales(store, one)]
    named = {None if one is None else one.digest: one for one in scales}
    if len(named) <= 1:
        scale = next(iter(named.values()), None)
        if scale is None:
            return CountedWords(VerdictWords())
        if count == "outcomes":
            return CountedWords(VerdictWords.of_outcomes(scale), counted=f"outcomes of {_named(scale)}")
        return CountedWords(VerdictWords.of_labels(scale), counted=f"labels of {_named(scale)}")
    names = _apart(list(named.values()))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    judged = f"the debates are judged in {len(names)} scales ({shown})"
    if count == "labels":
        raise SettingError(
            f"{judged}, whose labels are not counted together: choose the debates of one scale (--run), or leave "
            "--count labels out"
        )
    return CountedWords(VerdictWords(), mixed=f"{judged}: their outcomes are counted, and no label")


def _apart(scales: Sequence[VerdictScale | None]) -> list[str]:
    """The names of scales; those of one name, as after a meaning is changed, with their digests."""
    names = ["the three verdicts" if one is None else visible_line(one.name, 60) for one in scales]
    return sorted(
        name if one is None or names.count(name) == 1 else f"{name} {one.digest[:16]}"
        for name, one in zip(names, scales, strict=True)
    )


def _named(scale: VerdictScale) -> str:
    return f"the scale {visible_line(scale.name, 60)} ({scale.digest[:16]})"


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
