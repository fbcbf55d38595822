"""Every user error is one line on stderr that names the place, nothing on stdout, and no empty store."""

import os
import sqlite3
from contextlib import closing
from unittest.mock import patch

import pytest

from jury_judge.sessions import prepared_run
from jury_store import SqliteLock

GOOD = {"id": "a", "question": "q", "response": "a"}


def refused(outcome, message, code=2):
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "c.jsonl: the file is empty"),
        ([GOOD, "{bad}\n"], "c.jsonl:2: not JSON"),
        ([GOOD, '{"question": "q", "resp'], "c.jsonl:2: the line ends inside a JSON value; the file was cut off"),
        ([b'{"question": "q", "response": "\xff"}\n'], "c.jsonl:1: byte 32 (0xff) is not UTF-8"),
        (['{"question":"q"}'.encode("utf-16")], "c.jsonl: this is UTF-16 text"),
        ([GOOD, GOOD], "c.jsonl:2: case id 'a' is on lines 1 and 2"),
        (["[1]"], "c.jsonl:1: a row must be a JSON object, not a number"),
        ([{"question": "q"}], "c.jsonl:1: response: missing"),
        ([{"id": "\x1b[31m", "question": "q", "response": "a"}], "c.jsonl:1: case_id: character U+001B"),
        (['{"id": "a", "id": "b"}'], "the key 'id' is twice"),
    ],
)
def test_a_bad_case_file_is_refused_by_line(jury, rows, message):
    refused(jury.run(jury.write("c.jsonl", *rows)), message)

    assert not list(jury.folder.glob("jury.db*"))


def test_a_folder_without_a_case_file_is_refused(jury):
    (jury.folder / "empty").mkdir()

    refused(jury.run("empty"), "empty: this is a directory without a case file")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.jsonl",), "none.jsonl: there is no such file"),
        (("none\udcff\x1b.jsonl",), "none<U+DCFF>␛.jsonl: there is no such file"),
        (("good.jsonl", "good.jsonl"), "good.jsonl:1: the file is named twice"),
        (("-", "-"), "stdin: - is named twice"),
        ((), "Missing argument 'FILE...'; see jury run --help"),
        (("good.jsonl", "--nope"), "No such option '--nope'"),
        (("good.jsonl", "--field", "response"), "'response' is not NAME=VALUE"),
        (("good.jsonl", "--field", "foo=bar"), "--field 'foo': no such part of a case"),
        (("good.jsonl", "--field", "response=zzz"), "the row has no 'zzz'; its columns are id, question, response"),
        (("good.jsonl", "--threshold", "nan"), "'--threshold': nan is not a threshold; it may be above 0"),
        (("good.jsonl", "--threshold", "-1"), "'--threshold': -1 is not a threshold; it may be above 0"),
        (("good.jsonl", "--threshold", "0"), "'--threshold': 0 is not a threshold; it may be above 0"),
        (("good.jsonl", "--threshold", "inf"), "'--threshold': inf is not a threshold; it may be above 0"),
        (("good.jsonl", "--threshold", "67"), "'--threshold': 67 is not a threshold (did you mean 0.67?); it may be"),
        (("good.jsonl", "--threshold", "2.5"), "'--threshold': 2.5 is not a threshold; it may be above 0"),
        (("good.jsonl", "--in-proces"), "(Did you mean one of: '--in-process'"),
        (("good.jsonl", "--map", "lable:a=safe_pass"), "must be label:WORD=VERDICT (did you mean label?)"),
        (("good.jsonl", "--map", "label:a=unsafe"), "'unsafe' is not a verdict (did you mean unsafe_fail?)"),
        (("good.jsonl", "--simulate", "latancy=1"), "no such setting (did you mean latency?)"),
        (("good.jsonl", "--panel", "paralel-rounds"), "nor a file (did you mean parallel-rounds?)"),
        (("good.jsonl", "--limit", "-1"), "'--limit': -1 is not in the range"),
        (("good.jsonl", "--json", "--jsonl"), "--json and --jsonl exclude each other"),
        (("good.jsonl", "--run", "a b"), "'a b' cannot name a run"),
        (("good.jsonl", "--run", ""), "'' cannot name a run"),
        (("good.jsonl", "--run", "."), "'.' cannot be an id: it is a step in a path"),
        (("good.jsonl", "--run", ".."), "'..' cannot be an id: it is a step in a path"),
        (("good.jsonl", "--run", "a\x1b[2J"), "'a\\x1b[2J' cannot name a run"),
        (("good.jsonl", "--run", "a\udcff"), "cannot name a run"),
        (("good.jsonl", "--ray-address", "here"), "'here' is not HOST:PORT"),
        (("good.jsonl", "--ray-open-cluster"), "--ray-open-cluster has no effect without --ray-address HOST:PORT"),
        (("good.jsonl", "--simulate", "foo=1"), "--simulate foo: simulated models have no such setting"),
        (("good.jsonl", "--simulate", "timeout=2"), "--simulate timeout: a probability"),
        (("good.jsonl", "--panel", "nope"), "nope: neither a preset (parallel-rounds"),
        (("good.jsonl", "--panel", "nope.yaml"), "nope.yaml: there is no such panel file"),
        (("good.jsonl", "--panel", "broken.yaml"), "broken.yaml:2: "),
        (("good.jsonl", "--panel", "field.yaml"), "field.yaml:1: seatz: there is no such field"),
        (("good.jsonl", "--panel", "foreign.yaml"), "needs the provider 'acme'; the providers: simulated"),
        (("good.jsonl", "--judge-model", "acme/m"), "needs the provider 'acme'"),
        (("good.jsonl", "--store", "nonsense"), "--store: not a store's URL"),
        (("good.jsonl", "--store", "mysql://h/d"), "--store: not a store's URL"),
        (("good.jsonl", "--store", "sqlite:///a\udcff.db"), "--store: not a store's URL"),
        (("good.jsonl", "--store", "sqlite:///a?b=c"), "--store: a store's path has no options"),
        (("good.jsonl", "--store", "sqlite:///:memory:"), "a store is a file, not memory"),
        (("good.jsonl", "--store", "sqlite:///text.db"), "text.db is not a SQLite database"),
        (("good.jsonl", "--store", "sqlite:///."), "Is a directory"),
        (("good.jsonl", "--store", "sqlite:////proc/none/a.db"), "cannot be written"),
        (("good.jsonl", "--store", "postgresql://u:secret@127.0.0.1:1/d"), "Connection refused"),
    ],
)
def test_a_bad_argument_is_refused_by_name(jury, arguments, message):
    jury.write("good.jsonl", GOOD)
    jury.write("broken.yaml", "seats: [\n")
    jury.write("field.yaml", "seatz: []\n")
    jury.write("foreign.yaml", "seats:\n  - {juror_id: a, model: acme/m}\n")
    jury.write("text.db", "this is no database, whatever it is called\n")

    outcome = jury.run(*arguments)

    refused(outcome, message)
    assert "secret" not in outcome.err
    assert not list(jury.folder.glob("jury.db*"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "good.jsonl", "--panel", "pipe"),
        ("run", "good.jsonl", "--policy", "pipe"),
        ("run", "good.jsonl", "--prices", "pipe"),
        ("run", "good.jsonl", "--store", "sqlite:///pipe"),
        ("simulate", "--script", "pipe"),
        ("verify", "--all", "--key", "pipe"),
        ("verify", "--all", "--checkpoint", "pipe"),
        ("verify", "--all", "--tsa-cert", "pipe"),
        ("import", "pipe"),
    ],
    ids=lambda arguments: arguments[-2],
)
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(jury, arguments):
    jury.write("good.jsonl", GOOD)
    os.mkfifo(jury.folder / "pipe")

    outcome = jury(*arguments)

    assert (2, True) == (outcome.code, "not a regular file" in outcome.err)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JURY_USE_COLLABORATIVE", "maybe"),
        ("JURY_MAX_DISCUSSION_ROUNDS", "many"),
        ("JURY_MAX_DISCUSSION_ROUNDS", "101"),
        ("JURY_CONSENSUS_THRESHOLD", "nan"),
        ("JURY_CONSENSUS_THRESHOLD", "-1"),
        ("JURY_CONSENSUS_THRESHOLD", "0"),
        ("JURY_FINAL_JUDGMENT_METHOD", "dice"),
        ("JURY_FINAL_JUDGE_MODEL", "nobody"),
        ("JURY_STORE_URL", "nonsense"),
    ],
)
def test_a_bad_variable_is_refused_by_name(jury, name, value):
    outcome = jury.run(jury.write("good.jsonl", GOOD), env={name: value})

    refused(outcome, f"jury: {name}: ")


@pytest.mark.parametrize("command", [("list",), ("show", "d"), ("verify", "--all"), ("db", "check"), ("db", "rebuild")])
def test_without_a_store_the_command_prints_how_to_make_one(jury, command):
    outcome = jury(*command)

    refused(outcome, "there is no store at ")
    assert "name yours with --store or JURY_STORE_URL" in outcome.err
    assert "make an empty one with: jury db upgrade --store sqlite:///jury.db" in outcome.err


@pytest.mark.parametrize("command", ["upgrade", "current", "check", "rebuild"])
def test_a_file_that_is_no_database_is_left_as_it_is(jury, command):
    jury.write("text.db", "this is no database, whatever it is called\n")

    refused(jury("db", command, "--store", "sqlite:///text.db"), "text.db is not a SQLite database")

    assert (jury.folder / "text.db").read_text() == "this is no database, whatever it is called\n"


def test_a_store_of_a_newer_version_is_not_upgraded(jury):
    with closing(sqlite3.connect(jury.folder / "jury.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")

    refused(jury("db", "upgrade"), "has the schema 9999, which this version does not support")
    refused(jury("list"), "has the schema 9999")


@pytest.mark.parametrize("debate", ["none", "../../etc/passwd", "a'; drop table events", "x\x1b[31m", "x\udcff", ""])
def test_an_unknown_debate_is_refused_and_nothing_of_its_name_is_executed(judged, debate):
    refused(judged("show", debate), "`jury list` lists the debates")


def test_another_writer_is_waited_for_and_named(jury, cases, monkeypatch):
    monkeypatch.setattr(prepared_run, "LOCK_SECONDS", 0.1)
    jury.run(cases, "--run", "r1", "--limit", "1")
    lock = SqliteLock.acquire(jury.folder / "jury.db", run="other", wait=0)
    try:
        outcome = jury.run(cases, "--run", "r1")
        done = jury.run(cases, "--run", "r1", "--limit", "1")
    finally:
        lock.release()

    assert outcome.code == 2
    assert "jury: waiting up to 0.1 s: " in outcome.err
    assert ", run other, since " in outcome.err.splitlines()[-1]
    assert done.code == 0


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ConnectionError("Failed to connect"), "ConnectionError: Failed to connect"),
        (BrokenPipeError(32, "Broken pipe"), "BrokenPipeError: Broken pipe"),
        (TimeoutError(), "TimeoutError: no reason given"),
        (PermissionError(13, "Permission denied", "there"), "there: Permission denied"),
        (OSError(28, "No space left on device"), "the output cannot be written: No space left on device"),
    ],
)
def test_what_the_system_refuses_is_called_what_it_is(judged, error, says):
    with patch("jury_judge.records.open_store.open_store", side_effect=error):
        outcome = judged("list")

    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.err == f"jury: {says}; mend that and call the same command again\n"
