"""Every user error is one line on stderr that names the place, nothing on stdout, and no empty store."""

import sqlite3
from contextlib import closing
from unittest.mock import patch

import pytest

from jury_judge.runs import session
from jury_store import SqliteLock


def refused(outcome, message, code=2):
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_a_store_of_a_newer_version_is_not_upgraded(jury):
    with closing(sqlite3.connect(jury.folder / "jury.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('log_9999')")

    refused(jury("db", "upgrade"), "has the schema log_9999, which this version does not support")
    refused(jury("list"), "has the schema log_9999")


def test_another_writer_is_waited_for_and_named(jury, cases, monkeypatch):
    monkeypatch.setattr(session, "LOCK_SECONDS", 0.1)
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


def test_a_defect_is_neither_a_verdict_nor_a_users_error_and_shows_no_secret(judged):
    told = ValueError("sk-proj-abcdefghij is odd")
    with patch("jury_judge.records.open_store.open_store", side_effect=told):
        outcome = judged("list", env={"OPENAI_API_KEY": "sk-proj-abcdefghij"})

    refused(outcome, " is odd (a defect; JURY_TRACEBACK=1 shows where)", code=4)
    assert "abcdefghij" not in outcome.err
