"""Votes of files become one table, whatever their form; what cannot be read is refused in one line."""

import io
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_analysis.ballots import SCHEMA, check, decoded
from jury_analysis.label_schema import LABEL_FACTS, LABELS
from jury_cases.errors import CaseFileError
from jury_cases.votes.label_files import LabelFile, read_labels, read_labels_of
from jury_cases.votes.options import VoteOptions
from jury_cases.votes.vote_files import RecordedVotes, read_votes
from jury_cases.votes.words import VerdictWords, parse_words
from support.vote_rows import flat_rows, long_rows, wide_rows, write_csv, write_json, write_jsonl, write_parquet

ROWS = long_rows()
WRITERS = {"jsonl": write_jsonl, "json": write_json, "csv": write_csv, "parquet": write_parquet}


def read(path: Path, **options: Any) -> pa.Table:
    """The ballots with plain strings; the table is checked."""
    return decoded(check(read_votes([path], VoteOptions(**options)).ballots))


def read_text(text: str, **options: Any) -> RecordedVotes:
    return read_votes(["-"], VoteOptions(**options), stdin=io.BytesIO(text.encode()))


def refusal(text: str, **options: Any) -> str:
    with pytest.raises(CaseFileError) as caught:
        read_text(text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_row_a_vote_becomes_a_ballot(tmp_path: Path) -> None:
    row = {"case_id": 7, "seat": "a", "verdict": "SAFE", "round": 1, "score": 90, "confidence": 0.5, "label": "reject"}

    (ballot,) = read(write_jsonl(tmp_path / "v.jsonl", [row])).to_pylist()

    assert (
        dict.fromkeys(SCHEMA.names)
        | {
            "debate_id": "7",
            "case_id": "7",
            "cluster": "7",
            "repeat": 1,
            "label": "unsafe_fail",
            "round": 1,
            "role": "juror",
            "seat": "a",
            "kind": "own",
            "verdict": "safe_pass",
            "score": 90.0,
            "confidence": 0.5,
            "simulated": False,
        }
        == ballot
    )


@pytest.mark.parametrize("rounds", [1, 3])
def test_every_form_of_the_same_votes_gives_the_same_table(tmp_path: Path, rounds: int) -> None:
    rows = long_rows(rounds=rounds)
    forms = {"long": rows, "wide": wide_rows(rows), "flat": flat_rows(rows)}
    tables = {
        f"{form}.{ending}": read(write(tmp_path / f"{form}.{ending}", content))
        for form, content in forms.items()
        for ending, write in WRITERS.items()
        if (form, ending) != ("wide", "csv")
    }

    assert len(rows) == tables["long.jsonl"].num_rows
    assert [] == [name for name, table in tables.items() if not table.equals(tables["long.jsonl"])]


@pytest.mark.parametrize("form", [long_rows, lambda: wide_rows(ROWS)])
def test_the_order_of_rows_decides_nothing(tmp_path: Path, form: Any) -> None:
    rows = form()
    shuffled = random.Random(3).sample(rows, len(rows))

    assert read(write_jsonl(tmp_path / "a.jsonl", rows)) == read(write_jsonl(tmp_path / "b.jsonl", shuffled))


def test_an_exported_table_of_ballots_is_read_as_it_is(tmp_path: Path) -> None:
    ballots = read(write_jsonl(tmp_path / "v.jsonl", ROWS))
    kinds = ["stale" if row["kind"] == "own" and row["seat"] == "gpt" else row["kind"] for row in ballots.to_pylist()]
    ballots = ballots.set_column(SCHEMA.names.index("kind"), SCHEMA.field("kind"), pa.array(kinds))
    whole = {
        "role": pa.array(["judge" if seat == "claude" else "juror" for seat in ballots["seat"].to_pylist()]),
        "weight": pa.array([0.1] * len(ballots)),
        "changed": pa.array([True] * len(ballots)),
        "calls": pa.array([3] * len(ballots), pa.int32()),
        "output_tokens": pa.array([2**40] * len(ballots), pa.int64()),
        "cost": pa.array([0.1 + 0.2] * len(ballots)),
        "simulated": pa.array([True] * len(ballots)),
        "final_verdict": pa.array(["safe_pass"] * len(ballots)),
        "final_score": pa.array([7] * len(ballots), pa.int32()),
    }
    for name, column in whole.items():
        ballots = ballots.set_column(SCHEMA.names.index(name), SCHEMA.field(name), column)
    ballots = ballots.sort_by([(name, "ascending") for name in ("debate_id", "round", "role", "seat")])
    pq.write_table(ballots, tmp_path / "ballots.parquet")

    assert ballots == read(tmp_path / "ballots.parquet")


def test_other_columns_are_named_by_their_paths() -> None:
    row = '{"meta": {"task": 3}, "who": "a", "says": {"word": "bad"}, "topic": "t"}'

    (ballot,) = read_text(
        row,
        fields={"case_id": "meta.task", "seat": "who", "verdict": "says.word", "cluster": "topic"},
        words=parse_words(["bad=unsafe_fail"]),
    ).ballots.to_pylist()

    assert ("3", "t", "a", "unsafe_fail") == tuple(ballot[name] for name in ("case_id", "cluster", "seat", "verdict"))


def test_of_several_columns_for_a_part_the_first_one_counts() -> None:
    row = '{"id": "y", "case_id": "x", "judge": "b", "seat": "a", "verdict": "safe"}'

    assert [("x", "a")] == [(one["case_id"], one["seat"]) for one in read_text(row).ballots.to_pylist()]


def test_an_abstention_has_no_score() -> None:
    row = '{"id": 1, "seat": "a", "verdict": null, "score": 50, "confidence": 1}'

    (ballot,) = read_text(row).ballots.to_pylist()

    assert ("abstained", None, None) == (ballot["kind"], ballot["score"], ballot["confidence"])


def test_the_messages_of_votes_and_labels_are_read(tmp_path: Path) -> None:
    of_case = {"case_id": "c", "label": "reject", "label_message": 3, "message_count": 7, "outcome_correct": True}
    votes = {"a": {"verdict": "reject", "decisive_message": 4}, "b": {"verdict": "safe"}, "c": {"decisive_message": 1}}
    votes["c"] |= {"verdict": None}
    forms = {
        "long": [{**of_case, "seat": seat, **vote} for seat, vote in votes.items()],
        "wide": [{**of_case, "judges": votes}],
        "flat": [{**of_case, **{f"judges.{seat}.{part}": vote.get(part) for seat, vote in votes.items()
                                for part in ("verdict", "decisive_message")}}],
    }  # fmt: skip

    tables = [
        read_votes([write_jsonl(tmp_path / f"{form}.jsonl", rows)]).ballots.to_pylist() for form, rows in forms.items()
    ]

    assert tables[0] == tables[1] == tables[2]
    assert [4, None, None] == [one["decisive_message"] for one in tables[0]]
    assert [(3, 7, True)] * 3 == [
        (one["label_message"], one["message_count"], one["outcome_correct"]) for one in tables[0]
    ]


def test_columns_of_messages_are_in_the_table_only_where_a_row_has_a_value() -> None:
    row = '{"id": 1, "seat": "a", "verdict": "safe", "decisive_message": null, "message_count": 3}'

    assert [*SCHEMA.names, "message_count"] == read_text(row).ballots.column_names


def test_parts_of_a_vote_are_named_in_the_object_of_each_seat() -> None:
    row = '{"id": 1, "fault": 5, "judges": {"a": {"verdict": "reject", "step": 2, "sure": 0.5}, "b": "safe"}}'
    fields = {"decisive_message": "step", "label_message": "fault", "confidence": "sure"}

    ballots = read_text(row, fields=fields).ballots.to_pylist()

    assert [(2, 5, 0.5), (None, 5, None)] == [
        (one["decisive_message"], one["label_message"], one["confidence"]) for one in ballots
    ]


def test_a_part_of_a_vote_in_objects_is_left_out() -> None:
    row = '{"id": 1, "judges": {"a": {"verdict": "reject", "score": 500}}}'

    assert [None] == read_text(row, fields={"score": ""}).ballots["score"].to_pylist()


def test_a_field_that_no_object_has_is_refused() -> None:
    row = '{"id": 1, "judges": {"a": {"verdict": "reject", "step": 2}}}'

    assert "--field decisive_message=stop: no vote has such a field" in refusal(
        row, fields={"decisive_message": "stop"}
    )


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("decisive_message", '"seven"', "decisive_message: must be a whole number from 0 up, not 'seven'"),
        ("label_message", "-1", "label_message: must be a whole number from 0 up, not -1"),
        ("message_count", "0", "message_count: must be a whole number from 1 up, not 0"),
        ("outcome_correct", '"mostly"', "outcome_correct: must be true or false, not 'mostly'"),
    ],
)
def test_a_message_that_cannot_be_one_is_refused(part: str, value: str, message: str) -> None:
    assert message in refusal(f'{{"id": 1, "seat": "a", "verdict": "reject", "{part}": {value}}}')


def test_two_messages_of_one_label_are_refused() -> None:
    rows = "".join(
        f'{{"id": 1, "seat": "{seat}", "verdict": "safe", "label_message": {n}}}\n' for n, seat in enumerate("ab")
    )

    assert "label_message: debate '1' has '1' here and '0' at" in refusal(rows)


def test_a_part_is_left_out() -> None:
    row = '{"case_id": "c", "seat": "a", "verdict": "safe", "panel": "p"}'

    assert ["p"] == read_text(row).ballots["panel"].to_pylist()
    assert [None] == read_text(row, fields={"panel": ""}).ballots["panel"].to_pylist()


@pytest.mark.parametrize(
    ("row", "patterns", "votes"),
    [
        ('{"id": 1, "judges": {"a": "safe", "b": null}}', (), {"a": "safe_pass", "b": None}),
        ('{"id": 1, "judges": {"a.b": {"verdict": "safe"}}}', (), {"a.b": "safe_pass"}),
        ('{"id": 1, "x": {"judge_a": "safe", "other": "?"}}', ("x.judge_*",), {"a": "safe_pass"}),
        ('{"id": 1, "judges": {"a": {"winner": "safe"}}}', ("judges.*.winner",), {"a": "safe_pass"}),
        (
            '{"id": 1, "human": {"one": "safe"}, "gpt": "reject"}',
            ("human.*", "gpt"),
            {"gpt": "unsafe_fail", "one": "safe_pass"},
        ),
        ("id,judge_a,judge_b\n1,safe,\n", ("judge_*",), {"a": "safe_pass", "b": None}),
        ("id,judges.a,judges.a.score\n1,safe,3\n", (), {"a": "safe_pass"}),
        ('id,judges\n1,"{""a"": ""safe""}"\n', (), {"a": "safe_pass"}),
    ],
)
def test_columns_of_judges_are_found_by_patterns(row: str, patterns: tuple[str, ...], votes: dict[str, str]) -> None:
    ballots = read_text(row, judges=patterns).ballots.to_pylist()

    assert votes == {one["seat"]: one["verdict"] for one in ballots}
    assert ["abstained" if one["verdict"] is None else "own" for one in ballots] == [one["kind"] for one in ballots]


def test_a_seat_that_a_row_does_not_name_was_not_asked() -> None:
    ballots = read_text('{"id": 1, "judges": {"a": "safe", "b": "safe"}}\n{"id": 2, "judges": {"a": null}}\n').ballots

    assert [("1", "a"), ("1", "b"), ("2", "a")] == [(row["case_id"], row["seat"]) for row in ballots.to_pylist()]


def test_labels_of_annotators_stand_in_columns_too() -> None:
    rows = '{"id": 1, "judges": {"a": "safe"}, "human": {"h1": "safe", "h2": null}}'

    votes = read_text(rows, annotators=["human.*"])

    assert votes.labels is not None
    assert [{"case_id": "1", "annotator": "h1", "label": "safe_pass"}] == votes.labels.to_pylist()


def test_only_chosen_seats_are_read() -> None:
    rows = '{"id": 1, "judges": {"a": "safe", "b": "neither"}}'

    assert ["a"] == read_text(rows, seats=["a"]).ballots["seat"].to_pylist()
    assert "--seats 'gp': there is no vote of it; the seats are a, b" == refusal(rows, seats=["gp"])


def test_words_are_kept_where_they_are_declared() -> None:
    words = parse_words(["LOW=low", "label:bad=high"], order="low,middle,high")
    rows = '{"id": 1, "seat": "a", "verdict": "LOW", "label": "bad"}\n{"id": 2, "seat": "a", "verdict": "middle"}\n'

    assert [("low", "high"), ("middle", None)] == [
        (row["verdict"], row["label"]) for row in read_text(rows, words=words).ballots.to_pylist()
    ]
    assert (True, False) == (words.ordered, parse_words(categories="A,B").ordered)


def test_numbers_and_flags_are_words() -> None:
    words = VerdictWords(["0", "1", "True"])
    rows = "".join(
        f'{{"id": {number}, "seat": "a", "verdict": {word}}}\n'
        for number, word in enumerate(("1", "1.0", "true", '"0"'))
    )

    assert ["1", "1", "True", "0"] == read_text(rows, words=words).ballots["verdict"].to_pylist()


def test_a_fact_of_a_debate_counts_for_all_its_rows() -> None:
    rows = "id,seat,verdict,label,cluster\n1,a,safe,,\n1,b,safe,safe,x\n"

    assert [("safe_pass", "x")] * 2 == [(row["label"], row["cluster"]) for row in read_text(rows).ballots.to_pylist()]


def test_debates_over_a_case_are_distinguished_by_variant_and_repeat() -> None:
    rows = "id,seat,variant,repeat,verdict\n1,a,,1,safe\n1,a,,2,safe\n1,a,swapped,1,safe\n"

    assert ["1", "1 (repeat 2)", "1 (variant swapped)"] == read_text(rows).ballots["debate_id"].to_pylist()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            '{"id": 1, "seat": "a", "verdict": "correct"}',
            {},
            (
                "stdin:1: verdict: 'correct' is none of safe_pass, needs_review, unsafe_fail; say what it means "
                "with --map "
                "correct=VERDICT (none for no vote), or declare the words of the file with --order LOW,…,HIGH "
                "or --categories A,B"
            ),
        ),
        (
            '{"id": 1, "judges": {"a": "ok"}}',
            {"words": parse_words(order="low,high")},
            (
                "stdin:1: a: verdict: 'ok' is none of low, high; say what it means with --map ok=VERDICT (none for "
                "no vote)"
            ),
        ),
        (
            '{"id": 1, "seat": "a", "verdict": "safe"}\n\n{"id": 1, "seat": "a", "verdict": "safe"}\n',
            {},
            (
                "stdin:3: a second vote of 'a' in round 0 of debate '1', the first is at stdin:1; keep one, or "
                "name what "
                "distinguishes them: --field round=COLUMN, repeat=COLUMN, variant=COLUMN or debate_id=COLUMN"
            ),
        ),
        (
            "id,seat,verdict,label\n1,a,safe,safe\n1,b,safe,unsafe\n",
            {},
            (
                "stdin:3: label: debate '1' has 'unsafe_fail' here and 'safe_pass' at stdin:2; all votes of a debate "
                "must have "
                "the same; mend one, or name the column of debates: --field debate_id=COLUMN"
            ),
        ),
        (
            '{"id": 1, "seat": "a", "verdict": ["safe"]}',
            {},
            "stdin:1: verdict: must be a word, not a list; name the column that has the word",
        ),
        (
            '{"id": 1, "judges": {"a": {"word": "safe"}}}',
            {},
            "stdin:1: a: the vote has no 'verdict'; it has word; name the verdict in the pattern, as in judges.*.NAME",
        ),
        (
            '{"id": 1, "seat": "a", "verdict": "safe", "score": "high"}',
            {},
            (
                "stdin:1: score: must be a number from 0 to 100, not 'high'; rescale the column, or leave it out with "
                "--field score="
            ),
        ),
        (
            '{"id": 1, "seat": "a", "verdict": "safe", "confidence": 90}',
            {},
            (
                "stdin:1: confidence: must be a number from 0 to 1, not 90; rescale the column, or leave it out with "
                "--field confidence="
            ),
        ),
        (
            '{"id": 1, "seat": "a", "verdict": "safe", "round": 0.5}',
            {},
            "stdin:1: round: must be a whole number from 0 to 1000, not 0.5",
        ),
        (
            '{"id": 1, "verdict": "safe"}',
            {},
            (
                "stdin:1: seat: missing; name the column with --field seat=COLUMN, or the columns of the judges with "
                "--judges 'judges.*'; the row has id, verdict"
            ),
        ),
        (
            '{"seat": "a", "verdict": "safe"}',
            {},
            "stdin:1: case_id: missing; name the column with --field case_id=COLUMN; the row has seat, verdict",
        ),
        (
            '{"id": 1, "seat": "a"}',
            {},
            "stdin:1: verdict: missing; name the column with --field verdict=COLUMN; the row has id, seat",
        ),
        (
            '{"id": 1, "x": 2}',
            {"judges": ["judges.*"]},
            "--judges judges.*: no row has such a column; the first row has id, x",
        ),
        (
            '{"id": 1, "judges": {"a": "safe"}}',
            {"annotators": ["human.*"]},
            "--annotators human.*: no row has such a column; the first row has id, judges",
        ),
        (
            '{"id": 1, "judges": {"a": "safe"}, "judges.a": "safe"}',
            {},
            "stdin:1: 'a' has two columns in this row; keep one of them",
        ),
        ('{"id": 1, "judges": {" ": "safe"}}', {}, "stdin:1: a column of judges.* has no name for its seat"),
        (
            "id,seat,verdict\n" + "".join(f"1,s{number},safe\n" for number in range(257)),
            {},
            (
                "stdin:258: more than 256 seats; name the column of the seats with --field seat=COLUMN, or the "
                "seats with --seats A,B"
            ),
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(text: str, options: dict[str, Any], message: str) -> None:
    assert message == refusal(text, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VoteOptions(fields={"seet": "x"}), "--field 'seet': no such part of a vote (did you mean seat?)"),
        (lambda: read_text('{"id": 1}', judges=["a.*.*"]), "the pattern 'a.*.*' must be"),
        (lambda: parse_words(["correct=pass"]), "--map correct=pass: there is no such verdict"),
        (lambda: parse_words(["correct"]), "--map 'correct': must be WORD=VERDICT"),
        (lambda: parse_words(["a=safe_pass,a=unsafe_fail"]), "--map 'a' is there twice"),
        (lambda: parse_words(order="low"), "--order or --categories 'low': must be 2 to"),
        (lambda: parse_words(order="a,b,a"), "--order or --categories 'a,b,a': a word is there twice"),
        (lambda: parse_words(order="a,b", categories="a,b"), "--order and --categories: both declare"),
        (lambda: VoteOptions(fields={"label": "x"}, annotators=["h.*"]), "--label and --annotators: both name"),
    ],
)
def test_options_that_cannot_be_used_are_refused(make: Any, message: str) -> None:
    with pytest.raises(CaseFileError) as caught:
        make()
    assert message in str(caught.value)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "v.parquet", ROWS)
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(CaseFileError, match=r"v\.parquet: the Parquet file is cut off or damaged: .*; fetch or write"):
        read(path)


def test_rows_of_a_parquet_file_are_named_by_number(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "v.parquet", [*ROWS[:3], ROWS[1]])

    with pytest.raises(
        CaseFileError, match=r"v\.parquet: row 4: a second vote .* the first is at .*v\.parquet: row 2;"
    ):
        read(path)


def test_labels_are_read_with_their_annotators(tmp_path: Path) -> None:
    rows = [{"case_id": 1, "label": "safe", "annotator": "x"}, {"case_id": 2, "label": None, "annotator": "x"},
            {"case_id": 1, "label": "unsafe", "annotator": "y"}]  # fmt: skip

    found = [read_labels([write(tmp_path / f"l.{ending}", rows)]).to_pylist() for ending, write in WRITERS.items()]

    assert [
        [
            {"case_id": "1", "annotator": "x", "label": "safe_pass"},
            {"case_id": "1", "annotator": "y", "label": "unsafe_fail"},
        ]
    ] * len(WRITERS) == found


def test_labels_may_name_the_message_and_the_outcome(tmp_path: Path) -> None:
    rows = [{"case_id": 1, "label": "unsafe", "decisive_message": 3, "outcome_correct": True},
            {"case_id": 2, "label": "safe", "decisive_message": None, "outcome_correct": None}]  # fmt: skip

    found = [read_labels([write(tmp_path / f"l.{ending}", rows)]) for ending, write in WRITERS.items()]

    assert [[*LABELS, *LABEL_FACTS]] * len(WRITERS) == [list(table.schema) for table in found]
    assert [[(3, True), (None, None)]] * len(WRITERS) == [
        [(one["decisive_message"], one["outcome_correct"]) for one in table.to_pylist()] for table in found
    ]


def test_columns_of_labels_may_have_other_names(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [{"id": "a", "by": "x", "final": "unsafe", "step": 4, "label_message": 1}])
    fields = {"label": "final", "seat": "by", "label_message": "step", "round": "nothing"}

    (row,) = read_labels_of([LabelFile(path, VerdictWords(), fields)]).to_pylist()
    (without,) = read_labels_of([LabelFile(path, VerdictWords(), fields | {"label_message": ""})]).to_pylist()

    assert {"case_id": "a", "annotator": "x", "label": "unsafe_fail", "decisive_message": 4} == row
    assert "decisive_message" not in without


def test_the_message_of_a_row_of_several_votes_is_the_labels() -> None:
    row = '{"id": 1, "label": "unsafe", "decisive_message": 2%s, "judges": {"a": {"verdict": "unsafe"}}}'

    (own,) = decoded(read_text(row % "").ballots).to_pylist()
    (named,) = decoded(read_text(row % ', "label_message": 5').ballots).to_pylist()

    assert (2, 5) == (own["label_message"], named["label_message"])
    assert "decisive_message" not in own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"case_id": 1, "label": "unsafe", "decisive_message": -1}',
            "stdin:1: decisive_message: must be a whole number from 0 up, not -1",
        ),
        (
            '{"case_id": 1, "label": "unsafe", "outcome_correct": "maybe"}',
            "stdin:1: outcome_correct: must be true or false, not 'maybe'",
        ),
        (
            '{"case_id": 1, "label": "safe"}\n{"case_id": 1, "label": "safe"}\n',
            "stdin:2: annotator 'human' labels case '1' 'safe_pass' here and 'safe_pass' at stdin:1; keep one label",
        ),
        (
            '{"case_id": 1, "lable": "safe"}',
            (
                "stdin:1: label: missing; name a column label or expected_verdict or verdict or human_label; "
                "the row has case_id, lable"
            ),
        ),
        (
            '{"case_id": null, "label": "safe"}',
            "stdin:1: case_id: it is empty; every label needs the case that it is of",
        ),
        ('{"case_id": 1, "label": null}', "-: every label is empty; there is nothing to compare votes with"),
        (
            '{"case_id": 1, "label": "good"}',
            (
                "stdin:1: label: 'good' is none of safe_pass, needs_review, unsafe_fail; say what it means with --map "
                "good=VERDICT (none for no label), or declare the words of the file with --order LOW,…,HIGH or "
                "--categories A,B"
            ),
        ),
    ],
)
def test_labels_that_cannot_be_read_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(CaseFileError) as caught:
        read_labels(["-"], stdin=io.BytesIO(text.encode()))
    assert message == str(caught.value)
