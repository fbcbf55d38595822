"""Debates chosen and counted by what is known of their cases: `--where` and `--group-by`."""

from pathlib import Path
from typing import Any

import pytest

from jury_events import NewEvent, Verdict
from jury_migrations import upgrade
from jury_store import Append, open_store
from support.command_line import CommandLine
from support.debates import DebateScript

CASES: dict[str, dict[str, Any]] = {
    "d0": {"tags": ("refund", "card"), "cluster": "payments", "metadata": {"level": 3, "source": "a"}},
    "d1": {"tags": ("refund",), "cluster": "支払い", "metadata": {"level": 10}, "label": Verdict.UNSAFE_FAIL},
    "d2": {"tags": (), "label": None, "metadata": {"level": 3}, "run_id": "other"},
    "d3": {"tags": ("card",), "label": None},
}


def _events(script: DebateScript, name: str) -> tuple[NewEvent, ...]:
    opened, *rest = script.opened(**CASES[name]), *script.whole()[1:]
    return (opened, rest[0]) if name == "d3" else (opened, *rest)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Three debates that are completed with safe_pass 20, and d3, which is not over."""
    folder: Path = tmp_path_factory.mktemp("listed")
    url = f"sqlite:///{folder / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for n, name in enumerate(CASES):
        script = DebateScript(name, seed=n)
        store.append([Append(script.stream, _events(script, name), 0, 1)])
    store.close()
    return CommandLine(folder)


def test_a_listed_debate_shows_tags_metadata_and_cluster(listed: CommandLine) -> None:
    (row,) = listed("list", "--json", "--where", "case_id=case-d0").json

    assert (["refund", "card"], {"level": 3, "source": "a"}, "payments", None, 0) == tuple(
        row[name] for name in ("tags", "metadata", "cluster", "agent_cost", "not_shown")
    )


def test_debates_are_counted_by_tag_in_a_table(listed: CommandLine) -> None:
    outcome = listed("list", "--group-by", "tags")

    expected = [
        "tags    debates  completed  safe_pass  needs_review  unsafe_fail  mean score  as labelled",
        "card          2          1     100.0%          0.0%         0.0%        20.0       1 of 1",
        "refund        2          2     100.0%          0.0%         0.0%        20.0       1 of 2",
        "(none)        1          1     100.0%          0.0%         0.0%        20.0            –",
    ]

    assert expected == outcome.out.splitlines()


def test_groups_are_data_too(listed: CommandLine) -> None:
    outcome = listed("list", "--group-by", "cluster", "--run", "run", "--json")

    assert "cluster" == outcome.json["group_by"]
    payments, labelled, none = outcome.json["groups"]
    assert {
        "value": "payments",
        "debates": 1,
        "completed": 1,
        "verdicts": {"safe_pass": 1, "needs_review": 0, "unsafe_fail": 0},
        "shares": {"safe_pass": 1.0, "needs_review": 0.0, "unsafe_fail": 0.0},
        "mean_score": 20.0,
        "without_evaluation": 0,
        "labelled": 1,
        "as_labelled": 1,
        "labels": {},
    } == payments
    assert ("支払い", 1, 0) == tuple(labelled[name] for name in ("value", "labelled", "as_labelled"))
    assert {
        "value": None,
        "debates": 1,
        "completed": 0,
        "verdicts": {"safe_pass": 0, "needs_review": 0, "unsafe_fail": 0},
        "shares": {"safe_pass": None, "needs_review": None, "unsafe_fail": None},
        "mean_score": None,
        "without_evaluation": 0,
        "labelled": 0,
        "as_labelled": 0,
        "labels": {},
    } == none


def test_conditions_that_find_nothing_do_not_pass_for_a_success(listed: CommandLine) -> None:
    outcomes = [
        listed(*command, "--where", "tags=refnd") for command in (("replay", "--all"), ("verify",), ("export",))
    ]

    assert [2, 2, 2] == [outcome.code for outcome in outcomes]
