"""Ballots of a store as they are counted, and votes wherever they come from, with their labels and words."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import MESSAGES, OWN_WORDS, REASONING, SCHEMA
from jury_analysis.scale import Scale, in_labels, without_own_words
from jury_cases.votes.words import VerdictWords
from jury_events.errors import DebateNotFound, EventError
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.verdict import FAIL
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import NoneCounted, SettingsRefused, escaped
from jury_judge.settings.statistics import Count, Read
from jury_judge.store_access.counted_panels import ChosenScale, chosen_scale
from jury_judge.store_access.debates import panel_of
from jury_judge.tables.ballot_table import OF_EVIDENCE, OF_LABELS, ballot_table, with_messages
from jury_judge.tables.table_files import Scales, distinct_scales
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.event_store import EventStore

_SHOWN = 20


class Votes(NamedTuple):
    """Votes, wherever they come from.

    Attributes:
        ballots: columns of `jury_analysis.ballots.SCHEMA`, texts dictionary-encoded; as they are recorded, where they
            come from a store.
        labels: `jury_analysis.ballots.LABELS` of human annotators; None: there are none.
        words: the verdicts, and what words of later labels mean.
        scales: the scales of the panels' own, each once; None among them: the three verdicts.
    """

    ballots: pa.Table
    labels: pa.Table | None
    words: VerdictWords
    scales: tuple[VerdictScale | None, ...] = ()

    @property
    def counted(self) -> pa.Table:
        """The ballots as they are counted: with labels of the panel's scale as verdicts, where `words` are these."""
        scale = self.words.labels_of
        return without_own_words(self.ballots) if scale is None else in_labels(self.ballots, scale)

    @property
    def labels_of_outcomes(self) -> pa.Table | None:
        """The labels as outcomes, as the recorded ballots have them."""
        scale = self.words.labels_of
        if scale is None or self.labels is None:
            return self.labels
        outcomes = pa.array([str(scale.verdict(one)) for one in self.labels["label"].to_pylist()], pa.string())
        place = self.labels.schema.get_field_index("label")
        return self.labels.set_column(place, self.labels.schema.field(place), outcomes)


def stored_ballots(
    store: EventStore,
    wanted: DebateFilter = EVERY_DEBATE,
    *,
    run_ids: Iterable[str] = (),
    seats: Sequence[str] = (),
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """The ballots of finished debates: columns of `jury_analysis.ballots.SCHEMA`, texts dictionary-encoded; and of
    `MESSAGES` and `EVIDENCE`, where they are named, and of `REASONING` and `OWN_WORDS`, those that are known. Cases are
    read where `decisive_message` is named, of debates in which a vote names an item.

    Args:
        run_ids: only those of these runs; (): of any.
        seats: only the votes of these seats, and of the final judge; (): of all.
        columns: those to read; None: all of `SCHEMA` and `OWN_WORDS`. `STATISTICS_COLUMNS` take half the memory.
    """
    runs = tuple(dict.fromkeys(run_ids))
    columns = (*SCHEMA.names, *OWN_WORDS.names) if columns is None else columns
    tables = [_ballots(store, wanted._replace(run_id=run), columns) for run in runs or (wanted.run_id,)]
    found = of_seats(tables[0] if len(tables) == 1 else pa.concat_tables(tables).unify_dictionaries(), seats)
    asked = "verified" in found.column_names and not _is_empty(found["verified"])
    where_known = (*OF_LABELS.names, *REASONING.names, *OWN_WORDS.names)
    unknown = [name for name in where_known if name in found.column_names and _is_empty(found[name])]
    unknown += [name for name in OF_EVIDENCE.names if name in found.column_names and not asked]
    found = found.drop_columns(unknown)
    messages = asked and MESSAGES.names[0] in columns
    return with_messages(store, found) if messages else found


def of_seats(ballots: pa.Table, seats: Sequence[str], *, setting: str = "seats") -> pa.Table:
    """The ballots of these seats and of the final judge; all of them for (). `setting` is what messages name."""
    if not seats:
        return ballots
    jurors = pc.equal(ballots["role"].cast(pa.string()), "juror")
    names = ballots["seat"].cast(pa.string())
    known = sorted(pc.unique(names.filter(jurors)).to_pylist())
    for seat in seats:
        if seat not in known:
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            shown = ", ".join(visible_line(one, 60) for one in known[:_SHOWN]) + more
            said = (
                f"{visible_line(seat, 60)!r}: no debate has this seat{did_you_mean(seat, known)}; the seats are {shown}"
            )
            raise SettingsRefused(f"{{{setting}}} {escaped(said)}", usage=False)
    chosen = pc.is_in(names, value_set=pa.array(seats, pa.string()))
    return ballots.filter(pc.or_(pc.invert(jurors), chosen))


def of_reading(ballots: pa.Table, read: Read | None) -> pa.Table:
    """The ballots of debates of which every juror read the whole record, or of the others; None: all of them."""
    if read is None:
        return ballots
    if "read_percent" in ballots.column_names:
        partly = pc.less(pc.fill_null(ballots["read_percent"], 100), 100)
    else:
        partly = pa.repeat(False, ballots.num_rows)  # noqa: FBT003  (a value)
    partly = pc.and_(partly, pc.equal(ballots["role"].cast(pa.string()), "juror"))
    debates = ballots["debate_id"].cast(pa.string())
    found = pc.is_in(debates, value_set=pc.unique(debates.filter(partly)))
    chosen = ballots.filter(found if read == "partly" else pc.invert(found))
    if not chosen.num_rows:
        jurors = "a juror read less than" if read == "partly" else "all jurors read"
        raise SettingsRefused(f"{{read}} {read}: of no debate {jurors} the whole record", usage=False)
    return chosen


def _is_empty(column: pa.ChunkedArray) -> bool:
    return bool(column.null_count == len(column))


def _ballots(store: EventStore, wanted: DebateFilter, columns: Sequence[str] | None) -> pa.Table:
    found = ballot_table(store, wanted, columns=columns)
    if not found.num_rows:
        of_run = "" if wanted.run_id is None else f" of a run {visible_line(wanted.run_id, 120)!r}"
        such = "" if wanted._replace(run_id=None) == EVERY_DEBATE else " that meets the conditions"
        if store.list_debates(wanted._replace(counted=False), limit=1):
            raise NoneCounted(
                f"no finished debate{escaped(of_run)}{such} counts for its case, as the last stage of a ladder does; "
                "of one stage they are counted with {filters} stage=N"
            )
        raise DebateNotFound(
            f"there is no finished debate{of_run}{such} in this store; `jury list` shows the debates, "
            "`jury list --runs` the runs"
        )
    return found


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


_READ = ("debate_id", "role", "seat", "kind", "verdict", "verified", "normalised")


COUNTED_COLUMNS = (*SCHEMA.names, *OF_EVIDENCE.names, *OWN_WORDS.names)
"""The columns from which it follows what judgments count."""


def counted_ballots(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots of one panel as its judgments count them.

    Args:
        ballots: the columns `COUNTED_COLUMNS` that are known, by debate and round.
    """
    if not ballots.num_rows:
        return ballots
    abstaining = panel_of(store, ballots["debate_id"][0].as_py()).panel.answers.unsupported == "abstain"
    return _without_unsupported(ballots) if abstaining else ballots


def _without_unsupported(ballots: pa.Table) -> pa.Table:
    """The ballots where a seat abstains that fails the agent without support, and where that vote is repeated.

    Debates that a final judge decided are as they were: it decides as it does (`jury_debate.rules_1.votes`).
    """
    if OF_EVIDENCE.names[0] not in ballots.column_names:
        return ballots
    columns = [ballots[name].cast(pa.string()).to_pylist() for name in _READ[:5]]
    columns += [ballots[name].to_pylist() for name in _READ[5:]]
    rows = list(zip(*columns, strict=True))
    judged = {debate for debate, role, _, kind, *_ in rows if role == "judge" and kind != "abstained"}
    unsupported: dict[tuple[str, str], bool] = {}
    out = np.zeros(len(rows), dtype=np.bool_)
    for place, (debate, role, seat, kind, verdict, verified, normalised) in enumerate(rows):
        if role == "judge" or debate in judged:
            continue
        if kind != "stale":
            fails = kind in {"own", "conditional"} and verdict == FAIL and verified is not None
            unsupported[debate, seat] = fails and not verified + normalised
        out[place] = unsupported.get((debate, seat), False)
    for name, value in (("kind", "abstained"), ("verdict", None)):
        column = pc.if_else(pa.array(out), pa.scalar(value, pa.string()), ballots[name].cast(pa.string()))
        ballots = ballots.set_column(ballots.schema.get_field_index(name), name, column.dictionary_encode())
    return ballots


def scale_of(words: VerdictWords) -> Scale:
    """The categories of these verdicts."""
    return Scale(words.categories, words.ordered) if words.labels_of is None else Scale.of_labels(words.labels_of)
