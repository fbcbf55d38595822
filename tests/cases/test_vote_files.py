"""Votes of files become one table, whatever their form; what cannot be read is refused in one line."""

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jury_analysis import LABEL_FACTS, LABELS, SCHEMA, check, decoded
from jury_cases import (
    CaseFileError,
    RecordedVotes,
    VoteOptions,
    parse_words,
    read_labels,
    read_votes,
)
from support.refusals import RefusalTables
from support.vote_rows import flat_rows, long_rows, wide_rows, write_csv, write_json, write_jsonl, write_parquet

ROWS = long_rows()
WRITERS = {"jsonl": write_jsonl, "json": write_json, "csv": write_csv, "parquet": write_parquet}


def read(path: Path, **options: Any) -> pa.Table:
    """The ballots with plain strings; the table is checked."""
    return decoded(check(read_votes([path], VoteOptions(**options)).ballots))


def read_text(text: str, **options: Any) -> RecordedVotes:
    return read_votes(["-"], VoteOptions(**options), stdin=io.BytesIO(text.encode()))


def ballots(text: str, *names: str, **options: Any) -> list[Any]:
    """These columns, ballot by ballot; None where the table has no such column."""
    return [tuple(one.get(name) for name in names) for one in decoded(read_text(text, **options).ballots).to_pylist()]


def test_a_row_a_vote_becomes_a_ballot(tmp_path: Path) -> None:
    row = {"case_id": 7, "seat": "a", "verdict": "SAFE", "round": 1, "score": 90, "confidence": 0.5, "label": "reject"}

    (ballot,) = read(write_jsonl(tmp_path / "v.jsonl", [row])).to_pylist()

    ids = dict.fromkeys(("debate_id", "case_id", "cluster"), "7")
    vote = {"role": "juror", "seat": "a", "kind": "own", "verdict": "safe_pass", "score": 90.0, "confidence": 0.5}
    rest = {"repeat": 1, "label": "unsafe_fail", "round": 1, "simulated": False}
    assert dict.fromkeys(SCHEMA.names) | ids | vote | rest == ballot


def test_every_form_of_the_same_votes_in_any_order_gives_the_same_table(tmp_path: Path) -> None:
    rows = long_rows(rounds=2)
    forms = {"long": rows, "wide": wide_rows(rows), "flat": flat_rows(rows)}
    forms |= {f"shuffled {name}": random.Random(3).sample(form, len(form)) for name, form in forms.items()}
    tables = {
        f"{form}.{ending}": read(write(tmp_path / f"{form}.{ending}", content))
        for form, content in forms.items()
        for ending, write in WRITERS.items()
        if not (form.endswith("wide") and ending == "csv")
    }

    assert len(rows) == tables["long.jsonl"].num_rows
    assert [] == [name for name, table in tables.items() if not table.equals(tables["long.jsonl"])]


def test_an_exported_table_of_ballots_is_read_as_it_is(tmp_path: Path) -> None:
    table = read(write_jsonl(tmp_path / "v.jsonl", ROWS))
    rows = table.to_pylist()
    whole = {
        "kind": ["stale" if row["kind"] == "own" and row["seat"] == "gpt" else row["kind"] for row in rows],
        "role": ["judge" if row["seat"] == "claude" else "juror" for row in rows],
    }
    every = {"weight": 0.1, "changed": True, "calls": 3, "output_tokens": 2**40, "cost": 0.1 + 0.2, "simulated": True}
    for name, value in {**every, "final_verdict": "safe_pass", "final_score": 7}.items():
        whole[name] = [value] * len(rows)
    for name, column in whole.items():
        field = SCHEMA.field(name)
        table = table.set_column(SCHEMA.names.index(name), field, pa.array(column, field.type))
    table = table.sort_by([(name, "ascending") for name in ("debate_id", "round", "role", "seat")])
    pq.write_table(table, tmp_path / "ballots.parquet")

    assert table == read(tmp_path / "ballots.parquet")


def test_what_is_read_of_rows(printed: RefusalTables) -> None:
    """The columns that are named, ballot by ballot."""
    found = {}
    for name, row in printed.rows("votes_read").items():
        words = {"words": parse_words(**row["words"])} if "words" in row else {}
        rows = ballots(row["text"], *row["columns"], **row.get("options", {}), **words)
        found[name] = "\n".join(", ".join(map(repr, one)) for one in rows)

    printed.compare("votes_read", found)


def test_the_messages_of_votes_and_labels_are_read_in_every_form(tmp_path: Path) -> None:
    of_case = {"case_id": "c", "label": "reject", "label_message": 3, "message_count": 7, "outcome_correct": True}
    votes: dict[str, dict[str, Any]] = {
        "a": {"verdict": "reject", "decisive_message": 4},
        "b": {"verdict": "safe"},
        "c": {"decisive_message": 1, "verdict": None},
    }
    flat = {f"judges.{seat}.{part}": vote.get(part) for seat, vote in votes.items()
            for part in ("verdict", "decisive_message")}  # fmt: skip
    forms = {
        "long": [{**of_case, "seat": seat, **vote} for seat, vote in votes.items()],
        "wide": [{**of_case, "judges": votes}],
        "flat": [{**of_case, **flat}],
    }

    long, wide, flattened = (
        read_votes([write_jsonl(tmp_path / f"{form}.jsonl", rows)]).ballots.to_pylist() for form, rows in forms.items()
    )

    assert long == wide == flattened
    assert [(4, 3, 7, True), (None, 3, 7, True), (None, 3, 7, True)] == [
        tuple(one[name] for name in ("decisive_message", "label_message", "message_count", "outcome_correct"))
        for one in long
    ]


def test_a_plain_wide_table_is_read_as_the_same_votes_one_a_row(tmp_path: Path) -> None:
    words = {"gpt": ["pass", "fail", "good", "safe"], "llama-3": ["fail", "bad", "", "unsafe"], "B": ["approve"] * 4}
    about = {"question": "Open?", "model": "an agent", "score_of_agent": 3}
    wide = [
        {"case_id": f"c{case}", **about, **{seat: said[case] for seat, said in words.items()}, "label": "fail"}
        for case in range(4)
    ]
    long = [
        {"case_id": row["case_id"], "seat": seat, "verdict": row[seat], "label": "fail"}
        for row in wide
        for seat in words
    ]
    expected = read_votes([write_jsonl(tmp_path / "long.jsonl", long)]).ballots

    for ending, write in WRITERS.items():
        assert expected == read_votes([write(tmp_path / f"wide.{ending}", wide)]).ballots
    assert {"gpt", "B"} == set(
        read_votes([tmp_path / "wide.csv"], VoteOptions(judges=["gpt", "B"])).ballots["seat"].to_pylist()
    )


WIDE = {
    "a column that may be the label": "id,gpt,human\n1,pass,pass\n",
    "a judge whose first word is unknown": "id,gpt,claude\n1,pass,hm\n2,pass,fail\n",
    "a word of another column": "id,gpt,claude\n1,pass,fail\n2,hm,fail\n",
    "words of two directions": "id,gpt,claude\n1,1,0\n",
    "true and false": "id,gpt,claude\n1,True,False\n",
    "no verdict": "id,question,answer\n1,Open?,At nine.\n",
}


def test_columns_of_messages_are_in_the_table_only_where_a_row_has_a_value() -> None:
    row = '{"id": 1, "seat": "a", "verdict": "safe", "decisive_message": null, "message_count": 3}'

    assert [*SCHEMA.names, "message_count"] == read_text(row).ballots.column_names


def test_labels_of_annotators_stand_in_columns_too() -> None:
    rows = '{"id": 1, "judges": {"a": "safe"}, "human": {"h1": "safe", "h2": null}}'
    labels = read_text(rows, annotators=["human.*"]).labels

    assert [{"case_id": "1", "annotator": "h1", "label": "safe_pass"}] == (labels and labels.to_pylist())


NOT_DECLARED = '{"id": 1, "judges": {"a": "ok"}}'
MANY_SEATS = "id,seat,verdict\n" + "".join(f"1,s{number},safe\n" for number in range(257))
OPTIONS: dict[str, Callable[[], object]] = {
    "a part that there is not": lambda: VoteOptions(fields={"seet": "x"}),
    "a pattern with two stars": lambda: read_text('{"id": 1}', judges=["a.*.*"]),
    "a mapping to no verdict": lambda: parse_words(["correct=pass"]),
    "a mapping without a verdict": lambda: parse_words(["correct"]),
    "a word mapped twice": lambda: parse_words(["a=safe_pass,a=unsafe_fail"]),
    "an order of one": lambda: parse_words(order="low"),
    "an order with a word twice": lambda: parse_words(order="a,b,a"),
    "an order and categories": lambda: parse_words(order="a,b", categories="a,b"),
    "a label and annotators": lambda: VoteOptions(fields={"label": "x"}, annotators=["h.*"]),
}
LABEL_ROWS = {
    "a message that is none": '{"case_id": 1, "label": "unsafe", "decisive_message": -1}',
    "an outcome that is none": '{"case_id": 1, "label": "unsafe", "outcome_correct": "maybe"}',
    "a second label": '{"case_id": 1, "label": "safe"}\n{"case_id": 1, "label": "safe"}\n',
    "no label": '{"case_id": 1, "lable": "safe"}',
    "a label of no case": '{"case_id": null, "label": "safe"}',
    "empty labels": '{"case_id": 1, "label": null}',
    "another word": '{"case_id": 1, "label": "so-so"}',
    "a word of two directions": '{"case_id": 1, "label": 1}',
}


def test_what_cannot_be_read_is_refused_with_the_remedy(refusals: RefusalTables, tmp_path: Path) -> None:
    cut, twice = (write_parquet(tmp_path / f"{name}.parquet", [*ROWS[:3], ROWS[1]]) for name in ("cut", "twice"))
    cut.write_bytes(cut.read_bytes()[:-40])
    rows: dict[str, Callable[[], object]] = {
        **{name: lambda row=row: read_text(**row) for name, row in refusals.rows("vote_files").items()},  # type: ignore[misc]
        "a word that is not declared": lambda: read_text(NOT_DECLARED, words=parse_words(order="low,high")),
        "too many seats": lambda: read_text(MANY_SEATS),
        **OPTIONS,
        **{f"wide: {name}": lambda text=text: read_text(text) for name, text in WIDE.items()},  # type: ignore[misc]
        **{
            f"labels: {name}": lambda text=text: read_labels(["-"], stdin=io.BytesIO(text.encode()))  # type: ignore[misc]
            for name, text in LABEL_ROWS.items()
        },
        "a Parquet file that is cut off": lambda: read(cut),
        "a second vote of a Parquet file": lambda: read(twice),
    }

    refusals.check("vote_files", rows, lambda row: row(), CaseFileError)


def test_labels_are_read_with_their_annotators_messages_and_outcomes(tmp_path: Path) -> None:
    rows = [{"case_id": 1, "label": "safe", "annotator": "x"}, {"case_id": 2, "label": None, "annotator": "x"},
            {"case_id": 1, "label": "unsafe", "annotator": "y"}]  # fmt: skip
    facts = [{"case_id": 1, "label": "unsafe", "decisive_message": 3, "outcome_correct": True},
             {"case_id": 2, "label": "safe", "decisive_message": None, "outcome_correct": None}]  # fmt: skip

    for ending, write in WRITERS.items():
        plain = read_labels([write(tmp_path / f"l.{ending}", rows)])
        whole = read_labels([write(tmp_path / f"f.{ending}", facts)])

        assert [("1", "x", "safe_pass"), ("1", "y", "unsafe_fail")] == [(*one.values(),) for one in plain.to_pylist()]
        assert [*LABELS, *LABEL_FACTS] == list(whole.schema)
        assert [(3, True), (None, None)] == [
            (one["decisive_message"], one["outcome_correct"]) for one in whole.to_pylist()
        ]
