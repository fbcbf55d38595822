"""`jury export --parquet`: five tables that other tools open, as documented."""

import re
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_analysis import LABELS as LABEL_SCHEMA
from jury_analysis import check
from jury_judge.tables.evidence_table import EVIDENCE, EVIDENCE_TEXTS
from jury_judge.tables.export_schemas import BALLOTS, CASE_TEXTS, DEBATES, EXCHANGE_TEXTS, EXCHANGES, LABELS
from support.command_line import CommandLine
from support.postgres import PostgresServer

DOCS = Path(__file__).parents[2] / "docs" / "tables.md"
NAMES = ("debates", "ballots", "exchanges", "evidence", "labels")
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

    declared = {"debates": DEBATES, "ballots": BALLOTS, "exchanges": EXCHANGES, "evidence": EVIDENCE, "labels": LABELS}
    assert {name: table.schema for name, table in found.items()} == declared
    assert {"debates": 6, "labels": 2} == {name: found[name].num_rows for name in ("debates", "labels")}
    check(found["ballots"])


def _documented() -> dict[str, list[tuple[str, str]]]:
    text = DOCS.read_text()
    sections = {name: text.partition(f"\n## {name}\n")[2].partition("\n## ")[0] for name in NAMES}
    return {
        name: re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, flags=re.MULTILINE)
        for name, section in sections.items()
    }


_WORDS = {"list<item: string>": "list of string", "timestamp[us, tz=UTC]": "timestamp (µs, UTC)", "double": "float64"}


def test_the_documented_columns_are_those_of_the_files() -> None:
    schemas = {
        "debates": pa.schema([*DEBATES, *(pa.field(*one) for one in CASE_TEXTS.items())]),
        "ballots": BALLOTS,
        "exchanges": pa.schema([*EXCHANGES, *(pa.field(*one) for one in EXCHANGE_TEXTS.items())]),
        "evidence": pa.schema([*EVIDENCE, *(pa.field(*one) for one in EVIDENCE_TEXTS.items())]),
        "labels": LABELS,
    }

    written = {
        name: [(one.name, _WORDS.get(str(one.type), str(one.type))) for one in schema]
        for name, schema in schemas.items()
    }

    assert _documented() == written


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


def test_a_case_that_was_labelled_anew_has_both_labels_and_labels_reads_them(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    for run, label in (("a", "approve"), ("b", "reject"), ("c", "approve")):
        cases = jury.write("c.jsonl", {**CASES[0], "label": label}, CASES[1])
        assert jury.run(cases, "--run", run).code == 0

    assert jury("export", "--all", "--parquet", "tables").code == 0

    assert _table(tmp_path / "tables", "labels").select(LABEL_SCHEMA.names).to_pylist() == [
        {"case_id": "one", "annotator": "case", "label": "safe_pass"},
        {"case_id": "one", "annotator": "case 2", "label": "unsafe_fail"},
        {"case_id": "two words", "annotator": "case", "label": "unsafe_fail"},
    ]
    read = jury("stats", "--run", "a", "--labels", "tables/labels.parquet", "--include-simulated", "--json")
    assert (0, 1) == (read.code, read.json["labels"]["ties"])


def test_texts_are_written_only_where_they_are_asked_for(exported: CommandLine) -> None:
    plain = b"".join(_tables(exported.folder / "tables").values())

    assert exported("export", "--run", "nightly", "--parquet", "texts", "--texts").code == 0

    debates, exchanges = (_table(exported.folder / "texts", name) for name in ("debates", "exchanges"))
    assert "At nine." in debates["case"][0].as_py()
    assert exchanges["request"][0].as_py().startswith('[{"role":"system","content":"')
    assert '"verdict"' in exchanges["answer"][0].as_py()
    assert debates.drop_columns(["case"]) == _table(exported.folder / "tables", "debates")
    assert b"At nine." not in plain


def test_erased_texts_are_null(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    assert jury.run(jury.write("c.jsonl", *CASES[:2]), "--run", "r").code == 0
    assert jury("erase", "r~one", "--by", "dpo", "--reason", "asked", "--yes").code == 0

    assert jury("export", "--all", "--parquet", "tables", "--texts").code == 0

    debates, exchanges = (_table(tmp_path / "tables", name) for name in ("debates", "exchanges"))
    assert [one is None for one in debates["case"].to_pylist()] == [True, False]
    gone = exchanges.filter(pa.compute.equal(exchanges["debate_id"], "r~one"))
    assert gone.num_rows
    assert {None} == {*gone["request"].to_pylist(), *gone["answer"].to_pylist()}


@pytest.mark.full
def test_the_same_debates_give_the_same_bytes_on_both_databases(
    exported: CommandLine, tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.url(postgres.create_database())
    assert exported("export", "--all", "-o", str(tmp_path / "cassettes")).code == 0
    found = []
    for store, ordered in ((url, False), (f"sqlite:///{tmp_path / 'again.db'}", True)):
        assert exported("db", "upgrade", "--store", store).code == 0
        for one in sorted((tmp_path / "cassettes").iterdir(), reverse=ordered):
            assert exported("import", str(one), "--store", store).code == 0
        folder = tmp_path / str(ordered)
        assert exported("export", "--all", "--parquet", str(folder), "--texts", "--store", store).code == 0
        found.append(_tables(folder))

    assert found[0] == found[1]
    assert found[0]["ballots"] == _tables(exported.folder / "tables")["ballots"]


def test_an_earlier_export_is_replaced(exported: CommandLine, tmp_path: Path) -> None:
    assert exported("export", "nightly~one", "--parquet", str(tmp_path / "new" / "tables")).code == 0
    one = _tables(tmp_path / "new" / "tables")

    again = exported("export", "--all", "--parquet", str(tmp_path / "new" / "tables"), "--json")

    assert again.json["rows"]["debates"] == 6
    assert one != _tables(tmp_path / "new" / "tables") == _tables(exported.folder / "tables")
    assert {f"{name}.parquet" for name in NAMES} == {path.name for path in (tmp_path / "new" / "tables").iterdir()}


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"PAR1", None])
def test_a_file_that_is_no_such_export_is_not_replaced(
    exported: CommandLine, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ballots.parquet"
    if content is None:
        pq.write_table(pa.table({"mine": [1]}), path)
    else:
        path.write_bytes(content)
    before = path.read_bytes()

    refused = exported("export", "--all", "--parquet", str(tmp_path))

    assert refused.code != 0
    assert str(path) in refused.err
    assert refused.err.count("\n") == 1
    assert before == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_pandas_polars_and_duckdb_open_every_file(exported: CommandLine) -> None:
    import duckdb
    import pandas as pd
    import polars as pl

    for name in NAMES:
        path = exported.folder / "tables" / f"{name}.parquet"
        rows = pq.read_table(path).num_rows
        in_pandas, in_polars = pd.read_parquet(path), pl.read_parquet(path)
        (counted,) = duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall()

        assert rows == len(in_pandas) == len(in_polars) == counted[0]
        assert list(in_pandas.columns) == in_polars.columns == pq.read_schema(path).names
    ballots = exported.folder / "tables" / "ballots.parquet"
    assert (pl.Int32, pl.Float64, pl.Boolean, pl.String) == tuple(
        pl.read_parquet(ballots).schema[name] for name in ("round", "score", "changed", "verdict")
    )
    types = dict(duckdb.sql(f"DESCRIBE SELECT * FROM '{ballots}'").project("column_name, column_type").fetchall())
    assert ("INTEGER", "DOUBLE", "BOOLEAN", "VARCHAR", "BIGINT") == tuple(
        types[name] for name in ("round", "score", "changed", "verdict", "input_tokens")
    )
    assert ("int32", "float64", "bool") == tuple(
        str(pd.read_parquet(ballots).dtypes[name]) for name in ("round", "score", "simulated")
    )


def _examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)


def test_the_documented_duckdb_example_runs(exported: CommandLine) -> None:
    import duckdb

    (query,) = _examples("sql")
    with chdir(exported.folder):
        found = duckdb.sql(query).fetchall()

    assert {votes for _, votes, _ in found} == {4}
    assert all(0 <= accuracy <= 1 for *_, accuracy in found)


@pytest.mark.parametrize("number", [0, 1])
def test_the_documented_python_examples_run(
    exported: CommandLine, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with chdir(exported.folder):
        exec(compile(_examples("python")[number], "docs/tables.md", "exec"), {"__name__": "example"})

    assert "sim-" in capsys.readouterr().out
