"""`jury erase`: texts go for good and on record; nothing of them is left in any file of the store."""

import sqlite3
from contextlib import closing
from pathlib import Path

BY = ("--by", "dpo@example.com", "--reason", "request 17")
CANARY = b"hunter2"


def found(folder: Path, needle: bytes = CANARY) -> list[str]:
    return [
        path.name
        for path in sorted(folder.iterdir())
        if path.name.startswith("jury.db") and needle in path.read_bytes()
    ]


def test_nothing_of_a_debate_is_left_in_the_files(own):
    before = found(own.folder)

    outcome = own("erase", "r1~leak", *BY, "--yes")

    assert before == ["jury.db"]
    assert (outcome.code, outcome.out) == (0, "")
    assert "texts erased\n" in outcome.err
    assert "out of reach: exports, backups and copies of the store" in outcome.err
    assert found(own.folder) == []


def test_the_store_still_verifies_lists_and_shows(own):
    others = own("show", "r1~polite").out
    own("erase", "r1~leak", *BY, "--yes")

    assert own("verify", "--all").code == 0
    assert "texts erased on record" in own("verify", "--all").out
    assert own("show", "r1~leak").code == 0
    assert "[erased]" in own("show", "r1~leak").out
    assert own("show", "r1~leak", "--json").code == 0
    assert own("show", "r1~polite").out == others
    assert len(own("list", "--json").json) == 3


def test_a_reader_that_keeps_the_texts_in_the_file_is_reported_and_the_same_command_finishes(own, monkeypatch):
    from jury_store import SqlEventStore

    scrub = SqlEventStore.scrub
    monkeypatch.setattr(SqlEventStore, "scrub", lambda store, _wait=30.0: scrub(store, 0))
    with closing(sqlite3.connect(own.folder / "jury.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        stopped = own("erase", "r1~leak", *BY, "--yes")
        reader.execute("COMMIT")

    again = own("erase", "r1~leak", *BY, "--yes")

    assert (stopped.code, again.code) == (4, 0)
    assert "another process is reading the store" in stopped.err
    assert found(own.folder) == []


def test_an_exchange_goes_without_the_rest(own):
    with closing(sqlite3.connect(own.folder / "jury.db")) as connection:
        (exchange,) = connection.execute(
            "SELECT event_id FROM events WHERE stream = 'calls/r1~leak' AND event_id LIKE 'initial/%' "
            "ORDER BY version DESC LIMIT 1"
        ).fetchone()

    plan = own("erase", "--exchange", "r1~leak", exchange, "--dry-run")
    outcome = own("erase", "--exchange", "r1~leak", exchange, *BY, "--yes", "--json")

    assert plan.code == 0
    assert "stay, because other events refer to them" in plan.err
    assert 2 <= outcome.json["texts"] < 10
    assert outcome.json["shared"] > 0
    assert own("verify", "--all").code == 0
    assert found(own.folder) == ["jury.db"]


def test_branches_that_keep_copies_are_named_until_they_are_erased_too(own):
    own("fork", "r1~leak", "--at", "3", "--threshold", "0.5", "--in-process", "--as", "one")
    own("fork", "one", "--at", "3", "--max-rounds", "1", "--in-process", "--as", "two")

    origin = own("erase", "r1~leak", *BY, "--yes", "--json")
    branch = own("erase", "two", *BY, "--yes", "--json")
    last = own("erase", "one", *BY, "--yes", "--json")

    assert [["one", "two"], ["one"], []] == [outcome.json["copies"] for outcome in (origin, branch, last)]
    assert "have copies of its texts" in origin.err
    assert "(one, two)" in origin.err
    assert found(own.folder) == []
