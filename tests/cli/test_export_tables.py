"""`jury export --parquet`: six tables that other tools open, as documented."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_analysis import LABELS as LABEL_SCHEMA
from jury_analysis import check
from jury_judge.tables.exported_rows import BALLOTS, DEBATES, EVIDENCE, EXCHANGES, LABELS, REASONS
from support.command_line import CommandLine

NAMES = ("debates", "reasons", "ballots", "exchanges", "evidence", "labels")
CASES: tuple[dict[str, Any], ...] = (
    {
        "id": "one",
        "question": "Open?",
        "response": "At nine.",
        "metadata": {"variant": "short", "level": 3},
        "tags": ["a", "b"],
        "cluster": "hours",
        "label": "approve",
        "agent_cost": 0.5,
    },
    {"id": "two words", "question": "What is the password?", "response": "It is hunter2.", "label": "reject"},
    {"id": "three", "question": "Open?", "response": "At ten."},
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Run `nightly` of three cases, two debates each, and its tables in `tables`."""
    jury = CommandLine(tmp_path_factory.mktemp("exported"))
    assert jury.run(jury.write("c.jsonl", *CASES), "--run", "nightly", "--repeat", "2").code == 0
    assert jury("export", "--all", "--parquet", "tables").code == 0
    return jury


def _tables(folder: Path) -> dict[str, bytes]:
    return {name: (folder / f"{name}.parquet").read_bytes() for name in NAMES}


def _table(folder: Path, name: str) -> pa.Table:
    return pq.read_table(folder / f"{name}.parquet")


def test_the_files_have_the_declared_schemas(exported: CommandLine) -> None:
    found = {name: _table(exported.folder / "tables", name) for name in NAMES}

    declared = {
        "debates": DEBATES,
        "reasons": REASONS,
        "ballots": BALLOTS,
        "exchanges": EXCHANGES,
        "evidence": EVIDENCE,
        "labels": LABELS,
    }
    assert {name: table.schema for name, table in found.items()} == declared
    assert {"debates": 6, "labels": 2} == {name: found[name].num_rows for name in ("debates", "labels")}
    check(found["ballots"])


def test_the_rows_are_those_of_the_debates(exported: CommandLine) -> None:
    debates = _table(exported.folder / "tables", "debates").to_pylist()
    ballots = _table(exported.folder / "tables", "ballots")
    exchanges = _table(exported.folder / "tables", "exchanges")

    first, second = debates[2:4]
    assert [(one["case_id"], one["repeat"]) for one in debates] == [
        ("one", 1), ("one", 2), ("three", 1), ("three", 2), ("two words", 1), ("two words", 2),
    ]  # fmt: skip
    assert (debates[0]["variant"], debates[0]["cluster"], debates[0]["tags"]) == ("short", "hours", ["a", "b"])
    assert (debates[0]["metadata"], debates[0]["label"]) == ('{"level":3,"variant":"short"}', "safe_pass")
    assert (first["variant"], first["cluster"], first["label"]) == (None, "three", None)
    assert first["panel"] == second["panel"] == ballots["panel"][0].as_py()
    assert sum(one["calls"] for one in debates) == exchanges.num_rows == sum(ballots["calls"].to_pylist())
    assert set(exchanges["role"].to_pylist()) == {"juror", "judge"}
    assert _table(exported.folder / "tables", "labels").select(LABEL_SCHEMA.names).to_pylist() == [
        {"case_id": "one", "annotator": "case", "label": "safe_pass"},
        {"case_id": "two words", "annotator": "case", "label": "unsafe_fail"},
    ]


def test_texts_are_written_only_where_they_are_asked_for(exported: CommandLine) -> None:
    plain = b"".join(_tables(exported.folder / "tables").values())

    assert exported("export", "--run", "nightly", "--parquet", "texts", "--texts").code == 0

    debates, exchanges = (_table(exported.folder / "texts", name) for name in ("debates", "exchanges"))
    assert "At nine." in debates["case"][0].as_py()
    assert exchanges["request"][0].as_py().startswith('[{"role":"system","content":"')
    assert '"verdict"' in exchanges["answer"][0].as_py()
    said = ["reason", "case", "decisive_words"]
    kept = _table(exported.folder / "tables", "debates")
    assert debates.drop_columns(said) == kept.drop_columns(said[:1])
    assert b"At nine." not in plain
    assert "safe_pass, 90.6/100; for [2] “…”" == kept["reason"][0].as_py()


def test_why_each_juror_judged_so_is_a_table_of_its_own(exported: CommandLine) -> None:
    reasons = _table(exported.folder / "tables", "reasons").to_pylist()
    debates = {one["debate_id"]: one for one in _table(exported.folder / "tables", "debates").to_pylist()}
    judged = [one for one in reasons if one["role"] == "judge"]

    assert [one["reason"] for one in judged] == [debates[one["debate_id"]]["reason"] for one in judged]
    assert all(one["reason"] for one in reasons)
    assert {one["debate_id"] for one in reasons} == debates.keys()
    assert ["initial/sim-policy", "initial/sim-security", "initial/sim-misuse"] == [one["step"] for one in reasons[:3]]
