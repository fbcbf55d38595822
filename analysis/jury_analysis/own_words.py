"""Ballots in the labels of a panel's own scale, in place of the outcomes that they come to."""

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import OWN_WORDS
from jury_analysis.scale import plain_text
from jury_events.verdict_scale import OUTCOME_WORDS, VerdictScale

_COLUMNS = {"verdict": "vote_label", "final_verdict": "final_label", "label": "human_label"}
"""Columns of outcomes, and those with the labels that come to them."""


def only_label(scale: VerdictScale, verdict: str) -> str | None:
    """The label of a verdict, where the scale has one label alone that comes to it."""
    found = [one.id for one in scale.labels if one.verdict == verdict]
    return found[0] if len(found) == 1 else None


def in_labels(ballots: pa.Table, scale: VerdictScale) -> pa.Table:
    """The ballots with labels as verdicts.

    A vote with an outcome and no label, as what stands in for a blocked answer, counts as an abstention; a jury that
    decided an outcome alone has no verdict. People who gave an outcome gave its label where there is only one.

    Args:
        ballots: columns of `ballots.SCHEMA` and those of `OWN_WORDS` that are known.
    """
    outcomes = plain_text(ballots["label"])
    abstained = pc.equal(plain_text(ballots["kind"]), "abstained")
    for name, source in _COLUMNS.items():
        if name not in ballots.column_names:
            continue
        known = source in ballots.column_names
        column = plain_text(ballots[source]) if known else pa.nulls(ballots.num_rows, pa.string())
        if name == "verdict":
            column = pc.if_else(abstained, pa.scalar(None, pa.string()), column)
        if name == "label":
            for verdict in OUTCOME_WORDS:
                if (label := only_label(scale, verdict)) is not None:
                    of_outcome = pc.and_(
                        pc.is_null(column), pc.fill_null(pc.equal(outcomes, verdict), fill_value=False)
                    )
                    column = pc.if_else(of_outcome, label, column)
        ballots = _with(ballots, name, column)
    kind = plain_text(ballots["kind"])
    ballots = _with(ballots, "kind", pc.if_else(pc.is_null(ballots["verdict"]), "abstained", kind))
    return without_own_words(ballots)


def without_own_words(ballots: pa.Table) -> pa.Table:
    """The ballots without the columns of `OWN_WORDS`."""
    return ballots.drop_columns([name for name in OWN_WORDS.names if name in ballots.column_names])


def _with(ballots: pa.Table, name: str, column: pa.ChunkedArray | pa.Array) -> pa.Table:
    place = ballots.schema.get_field_index(name)
    encoded = pa.types.is_dictionary(ballots.schema.field(place).type)
    return ballots.set_column(place, name, pc.dictionary_encode(column) if encoded else column)
