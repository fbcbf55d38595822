"""Tables of ballots for tests of statistics, written as small matrices of votes."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from jury_analysis import MESSAGES, SCHEMA, check

Votes = Sequence[str | None]


def ballots(
    rounds: Sequence[Sequence[Votes]] | Sequence[Votes],
    *,
    labels: Sequence[str | None] | None = None,
    clusters: Sequence[str] | None = None,
    scores: Sequence[Sequence[float | None]] | None = None,
    confidences: Sequence[Sequence[float | None]] | None = None,
    finals: Sequence[str | None] | None = None,
    final_scores: Sequence[int] | None = None,
    judges: Sequence[str | None] | None = None,
    cases: Sequence[str] | None = None,
    seats: Sequence[str] | None = None,
    messages: Sequence[Sequence[int | None]] | None = None,
    facts: Sequence[dict[str, Any]] | None = None,
) -> pa.Table:
    """Ballots of debates d000, d001 …: `rounds` is [rounds][debates][seats], or [debates][seats] of one round.

    None is an abstention. Scores, confidences and messages belong to the first round. `facts` are further columns of
    each debate.
    """
    nested = [rounds] if isinstance(rounds[0][0], str | None) else rounds
    rows: list[dict[str, Any]] = []
    for number, debates in enumerate(nested):
        for index, votes in enumerate(debates):
            debate: dict[str, Any] = {
                "debate_id": f"d{index:06}",
                "case_id": cases[index] if cases else f"c{index:06}",
                "cluster": clusters[index] if clusters else cases[index] if cases else f"c{index:06}",
                "repeat": 1,
                "label": labels[index] if labels else None,
                "final_verdict": finals[index] if finals else None,
                "final_score": final_scores[index] if final_scores else None,
                "simulated": False,
                "round": number,
                **(facts[index] if facts else {}),
            }
            for place, vote in enumerate(votes):
                first = number == 0 and vote is not None
                rows.append(
                    debate
                    | {
                        "role": "juror",
                        "seat": seats[place] if seats else "abcdefghijklmnopqrstuvwxyz"[place],
                        "kind": "abstained" if vote is None else "own",
                        "verdict": vote,
                        "score": scores[index][place] if scores and first else None,
                        "confidence": confidences[index][place] if confidences and first else None,
                        **({"decisive_message": messages[index][place] if first else None} if messages else {}),
                    }
                )
            if judges and number == len(nested) - 1 and judges[index] is not None:
                rows.append(debate | {"role": "judge", "seat": "judge", "kind": "own", "verdict": judges[index]})
    return check(pa.Table.from_pylist(rows), (*SCHEMA.names, *MESSAGES.names))


def one_seat(verdicts: Sequence[str | None], **more: Any) -> pa.Table:
    """Ballots of a panel of one."""
    return ballots([(verdict,) for verdict in verdicts], **more)


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with other values in a column that it has; its field stays as it was declared."""
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    return table.set_column(
        place, field, values if isinstance(values, pa.ChunkedArray) else pa.array(values, field.type)
    )
