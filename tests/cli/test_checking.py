"""`jury verify`, `jury db` and `jury doctor`: alterations are named, no secret is shown."""

import sqlite3
from collections.abc import Iterator

import pytest

from support.command_line import CommandLine
from support.unguarded import unguarded


@pytest.fixture
def tampered(own: CommandLine) -> Iterator[tuple[CommandLine, sqlite3.Connection]]:
    """A copy of the store whose guards are gone."""
    with unguarded(own.folder / "jury.db") as connection:
        yield own, connection


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def test_one_debate_is_verified_by_its_id(judged):
    outcome = judged("verify", "r1~leak")

    assert (outcome.code, outcome.out.startswith("nothing was altered: 1 debate, ")) == (0, True)
    assert (
        "checked: chains, texts, lists; positions, schema and seals not (--all); "
        "not replayed (--deep replays every debate)" in outcome.out.splitlines()
    )


def test_a_deep_check_reports_that_it_replayed(judged):
    outcome = judged("verify", "--all", "--deep")
    report = judged("verify", "--all", "--deep", "--json").json

    assert outcome.code == 0
    assert "checked: chains, texts, lists, positions, schema; 3 debates replayed, and equal" in outcome.out.splitlines()
    assert (report["replayed"], report["not_replayed"]) == (3, 0)


def test_a_changed_byte_of_any_event_is_named(tampered):
    jury, connection = tampered
    events = connection.execute("SELECT position, stream, version, event_id, body FROM events").fetchall()
    of_one = [event for event in events if event[1].endswith("/r1~leak")]

    for position, stream, version, event_id, body in of_one[::3]:
        connection.execute("UPDATE events SET body = ? WHERE position = ?", (flipped(body), position))
        outcome = jury("verify", "--all")
        connection.execute("UPDATE events SET body = ? WHERE position = ?", (body, position))

        assert outcome.code == 5
        assert outcome.out.startswith(f"{stream}, event {version} ({event_id}): ")
    assert len(of_one) > 15
    assert jury("verify", "r1~leak").code == 0


def test_schema_and_guards_are_checked(tampered):
    jury, _ = tampered

    outcome = jury("db", "check")
    verified = jury("verify", "--all")

    assert (outcome.code, verified.code) == (5, 5)
    assert "trigger events_refuse_update is missing" in outcome.out.splitlines()
    assert (
        "the log: the schema is not the declared one: trigger events_refuse_update is missing"
        in verified.out.splitlines()
    )


def test_a_store_is_created_described_and_checked(jury):
    before = jury("db", "current")
    made = jury("db", "upgrade")
    again = jury("db", "upgrade")
    after = jury("db", "current")
    checked = jury("db", "check")

    assert before.out.startswith("store: none; needed: ")
    assert (made.code, again.out) == (0, made.out)
    assert after.out == before.out.replace("none", made.out.split()[-1])
    assert (checked.code, checked.out) == (0, "the schema is as declared\n")


def test_lists_are_made_anew_from_the_log(tampered):
    jury, connection = tampered
    before = jury("list", "--json").out
    connection.execute("DELETE FROM debates")

    outcome = jury("db", "rebuild")

    assert (outcome.code, outcome.out.startswith("made anew from ")) == (0, True)
    assert jury("list", "--json").out == before


def test_doctor_names_keys_and_passwords_and_shows_none(judged):
    env = {
        "OPENAI_API_KEY": "canary-1",
        "GEMINI_API_KEY": "canary-2",
        "GOOGLE_API_KEY": "",
        "JURY_STORE_URL": "postgresql://u:canary-3@127.0.0.1:1/d",
        "JURY_FINAL_JUDGE_MODEL": "simulated/a-judge",
    }

    outcome = judged("doctor", env=env)

    assert "provider keys set: OPENAI_API_KEY, GEMINI_API_KEY\n" in outcome.out
    assert "canary" not in outcome.out + outcome.err
    assert "problem  store: postgresql://u:***@127.0.0.1:1/d cannot be reached" in outcome.out
    assert outcome.code == 2
