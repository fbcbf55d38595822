"""Lists, runs and comparisons of stores that are damaged or change, and links that choose what they say."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jury_events import DebateCompleted, Verdict
from jury_migrations import upgrade
from jury_store import open_store
from support.debate_builder import DebateBuilder
from support.evidence_lists import store_quoting_debates
from support.pages import Site, keep, stored
from support.unguarded import unguarded


def debate(name: str, *, run: str = "run-1", whole: bool = True) -> DebateBuilder:
    made = DebateBuilder().phase_1()
    if whole:
        made.round_1().judged()
    return made.opened_as(debate_id=f"{run}~{name}", run_id=run, case_id=name)


def file_of(folder: Path) -> Path:
    """A store of one debate, as a file."""
    path = folder / "jury.db"
    upgrade(f"sqlite:///{path}")
    with closing(open_store(f"sqlite:///{path}", write=True)) as writer:
        keep(writer, debate("one"))
        writer.project()
    return path


def test_a_checked_debate_shows_the_verdict_of_its_events_and_a_differing_list_row_is_reported(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE debates SET final_verdict = 'safe_pass', final_score = 99")
    with closing(open_store(f"sqlite:///{path}", write=False)) as store:
        (row,) = Site(store).get("/?check=1").table(".list")
        notice = Site(store).get("/debates/run-1~one").text.replace("&#39;", "'")

    assert ["✗ unsafe_fail", "50"] == row[1:3]
    assert "altered" in row[6]
    assert "the list of debates has final_verdict 'safe_pass', its events 'unsafe_fail'" in notice


def test_a_malformed_hash_is_shown_as_stored(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    with unguarded(path) as connection:
        connection.execute("UPDATE events SET hash = 'forged' WHERE version = 1")
    with closing(open_store(f"sqlite:///{path}", write=False)) as store:
        page = Site(store).get("/debates/run-1~one/events")

    assert 500 == page.status
    assert "event 1 (opened): a column contains a value of the wrong type" in page.one(".notice.broken")
    assert "'forged'" in page.text.replace("&#39;", "'")


@pytest.mark.parametrize("event", [0, 3])
def test_a_comparison_with_a_damaged_record_is_reported_and_keeps_the_ids(event: int) -> None:
    other = debate("one", run="run-2")
    completed = other.events[-1]
    assert isinstance(completed, DebateCompleted)
    other.events[-1] = completed.changed(final_verdict=Verdict.SAFE_PASS)
    store = stored(debate("one"), other)
    store.debates(run_id="run-2")
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE events SET body = ? WHERE stream = 'debate/run-2~one' AND version = ?", (b"{}", event + 1)
        )
    debates, runs = (Site(store).get(f"/compare?{query}") for query in ("a=run-1~one&b=run-2~one", "a=run-1&b=run-2"))

    assert [200, 200] == [debates.status, runs.status]
    assert f"debate run-2~one was altered: debate/run-2~one, event {event + 1} " in debates.one(".notice.broken")
    assert ["run-1~one", "run-2~one"] == debates.attributes("form.filters input", "value")
    unknown = "The differences of the panels are unknown: a record cannot be read."
    assert (event == 0) == (unknown in runs.all("section p"))


def test_links_of_tags_and_quotations_choose_the_debates_that_they_name() -> None:
    store = stored(debate("one").opened_as(tags=("refund", "a&b")), debate("two").opened_as(tags=("refund",)))
    store_quoting_debates(store)
    site = Site(store)
    tags = [str(one) for one in site.get("/?where=tags=a%26b").attributes(".known a", "href")]
    page = site.get("/runs/r1")
    links = [str(one) for one in page.attributes("section[aria-labelledby=h-quoted] a", "href") if "?" in str(one)]
    results = {"verified": 3, "normalised": 1, "elsewhere": 1, "not_found": 1}

    assert [1, 1] == [len(site.get(link).table(".list")) for link in tags]
    assert {
        **{f"evidence={name}": number for name, number in results.items()},
        "unsupported=yes": 2,
        "decisive=agree": 1,
        "decisive=disagree": 1,
        "decisive=none": 2,
    } == {link.partition("&")[2]: len(site.get(link).table(".list")) for link in links}
    assert site.get("/debates/split").node("#item-1") is not None


def test_a_running_run_refreshes_and_an_ended_one_has_an_empty_region_for_the_script() -> None:
    site = Site(stored(debate("one", whole=False), debate("one", run="over")))

    assert ["2000"] == site.get("/runs/run-1").attributes(".run", "data-again")
    assert [""] == site.get("/runs/over").all("[data-region=live][hidden]")
