"""`jury stats` of debates whose jurors were asked for evidence."""

from jury_migrations import upgrade
from jury_store import open_store
from support.command_line import CommandLine
from support.located_debates import a_located_case, a_located_debate
from support.quoting_debates import CLAUDE, a_quoting_debate
from support.stored_debates import store_debate
from support.vote_rows import write_jsonl


def test_the_command_has_sections_of_items_and_quotations(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'quoted.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for number in range(12):
        store_debate(store, a_quoting_debate(), f"c{number}")
    store.close()
    ballots = jury.folder / "ballots.parquet"

    out = " ".join(jury("stats", "r1", "--store", url, "--parquet", str(ballots)).out.split())

    assert "The item that went wrong (first evaluations)" in out
    assert "48 quotations in 36 evaluations that were asked for evidence" in out
    assert f"{CLAUDE} 12 0.0%" in out
    # Labels name messages; this case has none that are known.
    assert "right where" not in out
    assert "right then" not in out
    assert 0 == jury("stats", str(ballots)).code


def test_messages_of_later_labels_are_compared_with_the_items_of_debates(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'located.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for number in range(12):
        store_debate(store, a_located_debate(a_located_case(decisive_message=3), (2, 3, None)), f"c{number}")
    store.close()
    rows = [
        {"case": f"c{number}", "label": "unsafe_fail", "step": number % 2, "right": number < 3} for number in range(12)
    ]
    write_jsonl(jury.folder / "labels.jsonl", rows)
    beside = "field: {case_id: case, decisive_message: step, outcome_correct: right}\n"
    (jury.folder / "labels.yaml").write_text(beside)
    called = ("--labels", str(jury.folder / "labels.jsonl"), "--json", "--resamples", "0")

    (found,) = jury("stats", "r1", "--store", url, *called, "--parquet", "ballots.parquet").json["panels"]
    (again,) = jury("stats", "ballots.parquet", "--json", "--resamples", "0").json["panels"]

    faults, messages = found["faults"], found["messages"]
    assert (12, 3, 9) == (faults["messages"], faults["silent"], faults["loud"])
    assert [0.5, 0.5, None] == [
        next(one["message_exact"]["value"] for one in faults["seats"] if one["seat"] == seat)
        for seat in ("gpt", "claude", "gemini")
    ]
    assert (1.0, 1.0) == (faults["panel"]["silent_found"]["value"], faults["panel"]["message_within_one"]["value"])
    assert (1.0, 0.0) == (messages["raw"]["value"], found["items"]["raw"]["value"])
    assert (faults, messages) == (again["faults"], again["messages"])
