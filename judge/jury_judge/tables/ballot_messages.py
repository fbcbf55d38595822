"""The messages of the source that the votes of recorded debates name, as columns beside their ballots."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import EVIDENCE, MESSAGES
from jury_debate.prompts_1.case_items import ItemMessages
from jury_judge.stores.case_messages import CaseMessages
from jury_store.event_store import EventStore

_PAGE = 200
_FIELDS = (EVIDENCE.field("item_count"), *(MESSAGES.field(name) for name in ("decisive_message", "message_count")))
_NULL = -1

_Rows = npt.NDArray[np.int64]


def with_messages(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots with the messages that their decisive items come from, and how many items and messages there are.

    Cases are read of debates in which an item is named. Labels name messages of the only scenario: of a case with
    several, the label's message is left out where evidence was asked for.

    Args:
        store: of the ballots, open for reading.
        ballots: with the columns `debate_id`, `verified` and `decisive_item`.
    """
    items = _numbers(ballots, "decisive_item")
    labelled = (_numbers(ballots, "label_message") != _NULL) & (_numbers(ballots, "verified") != _NULL)
    named = (items != _NULL) | labelled
    values = {field.name: np.full(len(items), _NULL, dtype=np.int32) for field in _FIELDS}
    several: list[_Rows] = []
    cases = CaseMessages(store)
    debates = _named_debates(ballots, named)
    while page := dict(islice(debates, _PAGE)):
        opened = cases.opened(page)
        several += [page[one.debate_id] for one in opened if one.scenarios > 1]
        with_item = [one for one in opened if (items[page[one.debate_id]] != _NULL).any()]
        for debate, messages in cases.of(with_item).items():
            rows = page[debate]
            values["item_count"][rows] = messages.items
            values["message_count"][rows] = messages.messages or _NULL
            values["decisive_message"][rows] = [_message(messages, int(item)) for item in items[rows]]
    for field in _FIELDS:
        column = pa.array(values[field.name], pa.int32(), mask=values[field.name] == _NULL)
        if field.name in EVIDENCE.names or column.null_count < len(column):
            ballots = ballots.append_column(field, column)
    return _without_labels(ballots, several)


def _numbers(ballots: pa.Table, name: str) -> npt.NDArray[np.int32]:
    """A column, `_NULL` for null and where there is no such column."""
    if name not in ballots.column_names:
        return np.full(ballots.num_rows, _NULL, dtype=np.int32)
    numbers: npt.NDArray[np.int32] = pc.fill_null(ballots[name], _NULL).to_numpy()
    return numbers


def _named_debates(ballots: pa.Table, named: npt.NDArray[np.bool_]) -> Iterator[tuple[str, _Rows]]:
    """The debates with a row of `named`, each with all of its rows, in the order of the table."""
    names = ballots["debate_id"].cast(pa.string()).combine_chunks().dictionary_encode()
    codes = names.indices.to_numpy()
    chosen = np.zeros(len(names.dictionary), dtype=np.bool_)
    chosen[codes[named]] = True
    rows = np.flatnonzero(chosen[codes])
    order = rows[np.argsort(codes[rows], kind="stable")]  # codes are in the order of the table
    for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else []:
        yield names.dictionary[int(codes[part[0]])].as_py(), part


def _message(messages: ItemMessages, item: int) -> int:
    found = None if item == _NULL else messages.named(item)
    return _NULL if found is None else found


def _without_labels(ballots: pa.Table, several: list[_Rows]) -> pa.Table:
    if not several or "label_message" not in ballots.column_names:
        return ballots
    place = ballots.schema.get_field_index("label_message")
    kept = np.ones(ballots.num_rows, dtype=np.bool_)
    kept[np.concatenate(several)] = False
    column = pc.if_else(pa.array(kept), ballots["label_message"].combine_chunks(), None)
    return ballots.set_column(place, ballots.schema.field(place), column)
