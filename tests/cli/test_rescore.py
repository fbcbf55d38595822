"""`jury rescore`: recorded debates under other settings, on stdout, in a file, by exit code."""

import json

import pyarrow.parquet as pq
import pytest

from support.unguarded import unguarded

MEDIAN = ("--set", "method=median", "--set", "bands=100/99")


def test_a_table_a_setting_and_the_flips_are_printed(judged):
    outcome = judged("rescore", "--all", "--recount", *MEDIAN)

    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[:4] == [
        "recount: every recorded position is kept, which assumes an unchanged discussion",
        "",
        "method=median bands=100/99",
        lines[3],
    ]
    assert lines[3].startswith("  3 of 3 determined; ")
    assert lines[4].split() == ["old\\new", "safe_pass", "needs_review", "unsafe_fail"]
    assert "flips:" in lines
    assert "→ unsafe_fail" in outcome.out
    assert "under the bands 100/99, was final judge" in outcome.out
    assert "  as labelled: 0 of 1, were 1" in lines


def test_parquet_has_the_values_of_the_lines(judged, tmp_path):
    outcome = judged(
        "rescore", "--all", "--recount", "--jsonl", "--parquet", str(tmp_path / "rows.parquet"), *MEDIAN,
        "--set", "max_rounds=0,1",
    )  # fmt: skip

    assert (outcome.code, len(outcome.lines)) == (0, 6)
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert outcome.lines == [{**row, "metadata": json.loads(row["metadata"])} for row in rows]


@pytest.mark.parametrize(
    ("setting", "code"), [(("--set", "quorum=1"), 0), (("--recount", *MEDIAN), 1)], ids=["none", "some"]
)
def test_a_flip_may_fail_a_build(judged, setting, code):
    assert code == judged("rescore", "--all", "--fail-on-flip", *setting).code


def test_a_debate_that_does_not_decode_is_named_and_the_others_go_on(own):
    with unguarded(own.folder / "jury.db") as connection:
        connection.execute("UPDATE events SET body = x'7b7d' WHERE stream = 'debate/r1~leak' AND version = 3")
    for mode in ((), ("--recount",)):
        outcome = own("rescore", "--all", "--jsonl", "--set", "quorum=1", *mode)

        assert (5, 2) == (outcome.code, len(outcome.lines))
        assert outcome.err.startswith("r1~leak: event 3 of debate/r1~leak (juror_evaluated) does not decode")
    report = own("rescore", "--all", "--json", "--set", "quorum=1").json
    assert ["r1~leak"] == [problem["debate_id"] for problem in report["problems"]]
