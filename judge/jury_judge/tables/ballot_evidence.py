"""What the votes of recorded debates quote, and where they say it went wrong, as columns beside their ballots."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import EVIDENCE, MESSAGES, READING, unified
from jury_debate.prompts_v2.item_messages import ItemMessages
from jury_events.codec import decode
from jury_events.debate_events import DebateOpened, JudgmentRendered, JurorEvaluated, StatementMade
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.evaluation import Evaluation
from jury_events.ids import debate_stream
from jury_judge.tables.case_messages import CaseMessages, OpenedCase
from jury_store.event_store import EventStore

_PAGE = 100
_JUDGE = -1
"""In place of the round of a final judge."""

_EVALUATING = frozenset({"juror_evaluated", "statement_made", "judgment_rendered"})

_FIELDS = (*EVIDENCE, *(MESSAGES.field(name) for name in ("decisive_message", "message_count")), *READING)
_NULL = -1

Rows = npt.NDArray[np.int64]


class _Vote(NamedTuple):
    """Numbers of an evaluation that was asked for evidence: quotations by result, and the decisive item."""

    verified: int
    normalised: int
    elsewhere: int
    not_found: int
    item: int | None
    read: int | None

    @classmethod
    def of(cls, evaluation: Evaluation) -> "_Vote":
        found = Counter(one.result for one in evaluation.evidence or ())
        counts = found["verified"], found["normalised"], found["elsewhere"], found["not_found"]
        read = evaluation.reading
        return cls(*counts, evaluation.decisive_item, None if read is None else int(100 * read.share))


_RESULTS = _Vote._fields[:4]

_Said = dict[tuple[int, str], _Vote]
"""By round and seat."""


def with_evidence(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots with the columns of `EVIDENCE`, and the messages that their items come from (`MESSAGES`); as they are
    where no vote was asked for evidence.

    Read from the events of those debates whose panel asks for it. The debates of a run have one version of the prompts,
    so of each panel in a run one debate is looked at first. Cases are read of debates in which an item was named.

    Args:
        store: of the ballots, open for reading.
        ballots: with the columns `debate_id`, `run_id`, `panel`, `round`, `role` and `seat`.
    """
    columns = _EvidenceColumns(ballots)
    cases = CaseMessages(store)
    asking = iter(_asking(store, ballots, columns))
    while page := list(islice(asking, _PAGE)):
        streams = store.read_streams([debate_stream(debate) for debate, _ in page])
        said = {debate: _said(streams.get(debate_stream(debate), [])) for debate, _ in page}
        cited = [
            opened
            for debate, votes in said.items()
            if any(one.item is not None for one in votes.values())
            and (opened := OpenedCase.of_stream(streams[debate_stream(debate)])) is not None
        ]
        messages = cases.of(cited)
        several = {opened.debate_id for opened in cited if opened.scenarios > 1}
        for debate, rows in page:
            if said[debate]:
                columns.fill(rows, said[debate], messages.get(debate))
            if debate in several:
                columns.of_several_scenarios.append(rows)
    return columns.beside(ballots)


def with_reading(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots with the column of `READING`.

    Args:
        store: of the ballots, open for reading.
        ballots: as of `with_evidence`.
    """
    (field,) = READING
    columns = _EvidenceColumns(ballots)
    asking = iter(_asking(store, ballots, columns))
    while page := list(islice(asking, _PAGE)):
        streams = store.read_streams([debate_stream(debate) for debate, _ in page])
        for debate, rows in page:
            columns.fill(rows, _said(streams.get(debate_stream(debate), [])), None)
    found = columns.beside(ballots)
    known = field.name in found.column_names
    return ballots.append_column(field, found[field.name] if known else pa.nulls(ballots.num_rows, field.type))


def _asking(store: EventStore, ballots: pa.Table, columns: "_EvidenceColumns") -> Iterator[tuple[str, Rows]]:
    """The debates whose jurors may have been asked for evidence, each with its rows."""
    debates = list(columns.debates())
    first = pa.array([rows[0] for _, rows in debates], pa.int64())
    known: dict[tuple[str, str | None], bool] = {}
    runs, panels = (ballots[name].take(first).cast(pa.string()).to_pylist() for name in ("run_id", "panel"))
    for (debate, rows), run, panel in zip(debates, runs, panels, strict=True):
        if run is not None and (run, panel) not in known:
            known[run, panel] = _asks(store.read_stream(debate_stream(debate))[:1])
        if run is None or known[run, panel]:
            yield debate, rows


def _asks(opening: list[StoredEvent]) -> bool:
    """Whether the debate that begins so asks for evidence; one that cannot be read may."""
    if not opening:
        return False
    opened = _opened(opening)
    return opened is None or (opened.prompts > 1 and opened.panel.answers.evidence != "off")


def _opened(opening: list[StoredEvent]) -> DebateOpened | None:
    """The opening event; None where it cannot be read."""
    for stored in opening:
        try:
            event = decode(stored)
        except EventError:
            return None
        return event if isinstance(event, DebateOpened) else None
    return None


def _said(stream: list[StoredEvent]) -> _Said:
    return {(round_, seat): _Vote.of(one) for round_, seat, one in _evaluations(stream) if one.evidence is not None}


def _evaluations(stream: list[StoredEvent]) -> Iterator[tuple[int, str, Evaluation]]:
    """Round, seat and evaluation; events that cannot be decoded have none: `jury verify` reports them."""
    for stored in stream:
        # Most evaluations of old debates were not asked for evidence: their bodies are not decoded.
        if stored.type not in _EVALUATING or b'"evidence"' not in stored.body:
            continue
        try:
            event = decode(stored)
        except EventError:
            continue
        match event:
            case JurorEvaluated():
                yield 0, event.juror_id, event.evaluation
            case StatementMade():
                yield event.round, event.juror_id, event.statement.evaluation
            case JudgmentRendered() if event.judgment.judge is not None:
                yield _JUDGE, "", event.judgment.judge


class _Text(NamedTuple):
    """A column of texts as codes, and what they mean."""

    codes: npt.NDArray[np.int32]
    words: list[str]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "_Text":
        """Of a column without nulls."""
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        whole = unified(encoded).combine_chunks()
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.chunk(0) if whole.num_chunks else pa.array([], pa.string()).dictionary_encode()
        return cls(whole.indices.to_numpy().astype(np.int32), whole.dictionary.to_pylist())


class _EvidenceColumns:
    """The further columns of a table of ballots, filled debate by debate.

    Attributes:
        of_several_scenarios: the rows of debates whose cases have several; labels name messages of the only one.
    """

    def __init__(self, ballots: pa.Table) -> None:
        self._debates, self._seats, self._roles = (_Text.of(ballots[name]) for name in ("debate_id", "seat", "role"))
        self._rounds = ballots["round"].to_numpy()
        self._values: dict[str, npt.NDArray[np.int32]] = {}
        self.of_several_scenarios: list[Rows] = []

    def debates(self) -> Iterator[tuple[str, Rows]]:
        """Each debate with its rows, in the order of the table."""
        order = np.argsort(self._debates.codes, kind="stable")
        starts = np.flatnonzero(np.diff(self._debates.codes[order], prepend=-1))
        parts = np.split(order, starts[1:]) if len(starts) else []
        for rows in sorted(parts, key=lambda rows: int(rows[0])):
            yield self._debates.words[self._debates.codes[rows[0]]], rows

    def fill(self, rows: Rows, said: _Said, messages: ItemMessages | None) -> None:
        """Fill the rows of one debate.

        Args:
            rows: of the debate.
            said: the votes of its seats, and of the final judge under (`_JUDGE`, "").
            messages: of its items, where an item is named and the case is there.
        """
        if not self._values:
            self._values = {field.name: np.full(len(self._rounds), _NULL, dtype=np.int32) for field in _FIELDS}
        if messages is not None:
            self._values["item_count"][rows] = messages.items
            self._values["message_count"][rows] = messages.messages or _NULL
        for row in rows:
            judge = self._roles.words[self._roles.codes[row]] == "judge"
            vote = (_JUDGE, "") if judge else (int(self._rounds[row]), self._seats.words[self._seats.codes[row]])
            if (found := said.get(vote)) is not None:
                self._fill(row, found, messages)

    def _fill(self, row: int, vote: _Vote, messages: ItemMessages | None) -> None:
        for name in _RESULTS:
            self._values[name][row] = getattr(vote, name)
        if vote.read is not None:
            self._values["read_percent"][row] = vote.read
        if vote.item is not None:
            self._values["decisive_item"][row] = vote.item
            named = None if messages is None else messages.named(vote.item)
            self._values["decisive_message"][row] = _NULL if named is None else named

    def beside(self, ballots: pa.Table) -> pa.Table:
        """The ballots with these columns; as they are where no row was filled."""
        for field in _FIELDS if self._values else ():
            column = self._values.pop(field.name)
            values = pa.array(column, pa.int32(), mask=column == _NULL)
            if field.name in EVIDENCE.names or values.null_count < len(values):
                ballots = ballots.append_column(field, values)
        if self.of_several_scenarios and "label_message" in ballots.column_names:
            place = ballots.schema.get_field_index("label_message")
            kept = np.ones(ballots.num_rows, dtype=np.bool_)
            kept[np.concatenate(self.of_several_scenarios)] = False
            column = pc.if_else(pa.array(kept), ballots["label_message"].combine_chunks(), None)
            ballots = ballots.set_column(place, ballots.schema.field(place), column)
        return ballots
