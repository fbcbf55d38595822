"""The same votes in the forms in which people have them: a row a vote or a row a case; JSONL, CSV, Parquet, Arrow."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from support.command_line import CommandLine

SEATS = ("gpt", "claude", "gemini-2.5")
VERDICTS = ("safe_pass", "needs_review", "unsafe_fail")

Row = dict[str, Any]


def long_rows(cases: int = 40, seed: int = 5, *, rounds: int = 1) -> list[Row]:
    """A row a vote: of each seat, on each case; some seats abstain, some cases have no label."""
    draw = random.Random(seed)
    rows = []
    for number in range(cases):
        truth = draw.choice(VERDICTS)
        label = truth if draw.random() < 0.9 else None
        for seat in SEATS:
            for turn in range(rounds):
                verdict = None if draw.random() < 0.1 else truth if draw.random() < 0.7 else draw.choice(VERDICTS)
                rows.append(
                    {
                        "case_id": f"case-{number:03}",
                        "cluster": f"topic {number // 2}",
                        "label": label,
                        **({"round": turn} if rounds > 1 else {}),
                        "seat": seat,
                        "verdict": verdict,
                        "score": None if verdict is None else draw.randrange(101),
                        "confidence": None if verdict is None else draw.randrange(11) / 10,
                    }
                )
    return rows


def wide_rows(rows: list[Row]) -> list[Row]:
    """The same, a row a case (and round): `judges` has an object a seat."""
    cases: dict[tuple[str, int], Row] = {}
    for row in rows:
        case = cases.setdefault((row["case_id"], row.get("round", 0)), {**_of_case(row), "judges": {}})
        case["judges"][row["seat"]] = {part: row[part] for part in ("verdict", "score", "confidence")}
    return list(cases.values())


def flat_rows(rows: list[Row]) -> list[Row]:
    """The wide rows with columns named by their paths, as in a table of cells."""
    return [
        {
            **_of_case(row),
            **{f"judges.{seat}.{part}": value for seat, vote in row["judges"].items() for part, value in vote.items()},
        }
        for row in wide_rows(rows)
    ]


def write_jsonl(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table_of(jury: CommandLine, file: str | Path, *reading: str) -> str:
    """The table of votes that `jury votes` writes of a file, read so."""
    outcome = jury("votes", str(file), *reading, "-o", "table.parquet")
    assert 0 == outcome.code, outcome.err
    return str(jury.folder / "table.parquet")


def write_json(path: Path, rows: list[Row]) -> Path:
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path


def write_csv(path: Path, rows: list[Row]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, rows: list[Row]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def _of_case(row: Row) -> Row:
    return {name: row[name] for name in ("case_id", "cluster", "label", "round") if name in row}
