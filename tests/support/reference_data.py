"""Figures that were computed independently, and the votes that they are of: data beside the project, never a copy.

JURY_REFERENCE_DATA names their folder. Tests that need them are skipped without it.
"""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jury_analysis import check

FOLDER = Path(os.environ.get("JURY_REFERENCE_DATA", "no-such-folder"))

needs_reference_data = pytest.mark.skipif(
    not (FOLDER / "reference_analytics.json").is_file(),
    reason="the reference figures are not here: JURY_REFERENCE_DATA names their folder",
)


@cache
def reference(name: str) -> dict[str, Any]:
    """A section of `reference_analytics.json`."""
    figures = json.loads((FOLDER / "reference_analytics.json").read_text(encoding="utf-8"))
    section: dict[str, Any] = figures[name]
    return section


@cache
def reference_rows(name: str) -> tuple[dict[str, Any], ...]:
    """The rows of a file of the folder, without its ending."""
    return tuple(json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())


def ballots_of(
    votes: Sequence[Mapping[str, str | None]],
    *,
    clusters: Sequence[str] | None = None,
    labels: Sequence[str | None] = (),
) -> pa.Table:
    """Ballots of one round: a mapping of seats to verdicts for each case; None is an abstention."""
    rows = [
        {
            "debate_id": f"case-{number:05}",
            "case_id": f"case-{number:05}",
            "cluster": clusters[number] if clusters else f"case-{number:05}",
            "repeat": 1,
            "label": labels[number] if labels else None,
            "round": 0,
            "role": "juror",
            "seat": seat,
            "kind": "own" if verdict else "abstained",
            "verdict": verdict,
            "simulated": False,
        }
        for number, given in enumerate(votes)
        for seat, verdict in given.items()
    ]
    types = {"label": pa.string(), "verdict": pa.string(), "repeat": pa.int32(), "round": pa.int32()}
    return check(pa.table({name: pa.array([row[name] for row in rows], types.get(name)) for name in rows[0]}))


def triviaqa(seats: Sequence[str]) -> pa.Table:
    """b2: the named judges on 1,017 answers, clustered by question."""
    rows = reference_rows("b2_triviaqa_judges")
    return ballots_of(
        [{seat: row["judges"].get(seat) for seat in seats} for row in rows],
        clusters=[row["question"] for row in rows],
        labels=[row["human_label"] for row in rows],
    )


def mmlu() -> pa.Table:
    """b9: 140 debates of three rounds, clustered by question."""
    rows = [
        {
            "debate_id": row["debate_id"],
            "case_id": row["case_id"],
            "cluster": row["case_id"],
            "repeat": 1,
            "panel": row["panel"],
            "label": row["label"],
            "round": row["round"],
            "role": "juror",
            "seat": row["seat"],
            "kind": "own" if row["verdict"] else "abstained",
            "verdict": row["verdict"],
            "simulated": False,
        }
        for row in reference_rows("b9_mad_mmlu_rounds")
    ]
    return check(pa.Table.from_pylist(rows))
