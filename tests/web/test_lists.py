"""The pages of the list of debates, of runs, of one run, and of comparisons."""

import sqlite3
from contextlib import closing

import pytest

from jury_events import CallOutcome, DebateCompleted, JudgmentRendered, Omission, Usage, Verdict
from jury_migrations import upgrade
from jury_store import open_store
from support.debate_builder import DebateBuilder
from support.pages import Site, keep, stored
from support.unguarded import unguarded

BLOCKED = "⊘ 1 stands in for a blocked answer"


def debate(name: str, *, run: str = "run-1", case: str | None = None, whole: bool = True) -> DebateBuilder:
    made = DebateBuilder().phase_1()
    if whole:
        made.round_1().judged()
    return made.opened_as(debate_id=f"{run}~{name}", run_id=run, case_id=case or name)


@pytest.fixture(scope="module")
def site() -> Site:
    """run-1: debates one to three, three is unfinished; run-2: debate one, under another panel."""
    other = debate("one", run="run-2", whole=False).opened_as(roles={"juror-gpt": "Clerk"})
    return Site(stored(debate("one"), debate("two", case="返金"), debate("three", whole=False), other))


def test_the_list_is_newest_first_with_results(site):
    rows = site.get("/").table(".list")

    assert [
        "one simulatedrun-2~one",
        "three simulatedrun-1~three",
        "返金 simulatedrun-1~two",
        "one simulatedrun-1~one",
    ] == [row[0] for row in rows]
    assert [
        "✗ unsafe_fail",
        "50",
        f"2 of 3 ↻ 1 Position changed {BLOCKED}",
        "1",
        "met",
        "not checked",
        "run-1",
    ] == rows[2][1:8]
    assert ["discussing", "–", "–", "0", "–", "not checked", "run-1"] == rows[1][1:8]


def test_an_abstention_does_not_count_as_agreement():
    made = debate("one")
    rendered = made.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    one, other, third = rendered.judgment.votes
    absent = third.changed(kind="abstained", position=None, score=None, confidence=None, round=None, stale=False)
    votes = (one, absent.changed(juror_id=other.juror_id), absent)
    made.events[-2] = rendered.changed(judgment=rendered.judgment.changed(votes=votes))

    assert "1 of 3 ↻ 1 Position changed" == Site(stored(made)).get("/").table(".list")[0][3]


def test_records_are_checked_on_request(site):
    shown = site.get("/?check=1")

    assert ["✓ intact"] * 4 == shown.all("td .integrity")
    assert not shown.tree.css("[data-then]")


def test_a_checked_debate_shows_the_verdict_of_its_events_and_a_differing_list_row_is_reported(tmp_path):
    path = tmp_path / "jury.db"
    upgrade(f"sqlite:///{path}")
    writer = open_store(f"sqlite:///{path}", write=True)
    keep(writer, debate("one"))
    writer.project()
    writer.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE debates SET final_verdict = 'safe_pass', final_score = 99")
    store = open_store(f"sqlite:///{path}", write=False)
    site = Site(store)

    (row,) = site.get("/?check=1").table(".list")
    page = site.get("/debates/run-1~one")
    store.close()

    assert ["✗ unsafe_fail", "50"] == row[1:3]
    assert "altered" in row[6]
    assert "the list of debates has final_verdict 'safe_pass', its events 'unsafe_fail'" in page.text.replace(
        "&#39;", "'"
    )


@pytest.fixture(scope="module")
def known() -> Site:
    """Three debates of run-1 whose cases have labels, tags or metadata, and one without."""
    paid = {"tags": ("refund", "a&b"), "cluster": "支払い", "metadata": {"level": 3}}
    lost = (Omission(what="image/png", count=2, size=96_000), Omission(what="audio/wav", count=1))
    return Site(
        stored(
            debate("one").opened_as(**paid),
            debate("two").opened_as(tags=("refund",), metadata={"level": 10}, omissions=lost),
            debate("three", whole=False).opened_as(tags=("other",), metadata={"level": 3}, label=None),
            debate("four").opened_as(label=None),
        )
    )


def test_conditions_are_in_the_form_and_in_every_link(known):
    shown = known.get("/?where=tags~REF&where=metadata.level=3&lang=en")

    assert ["tags~REF", "metadata.level=3", ""] == shown.attributes("input[name=where]", "value")
    assert "/?where=tags~REF&where=metadata.level%3D3&check=1" == shown.node("#check").attributes["href"]
    assert "/?where=tags~REF&where=metadata.level%3D3&lang=ja" in shown.attributes("header a", "href")


def test_a_tag_in_the_list_links_to_the_debates_with_it(known):
    shown = known.get("/?where=tags=a%26b")

    (refund,) = [one for one in shown.attributes(".known a", "href") if one and "refund" in one]
    assert ["run-1~one"] == known.get(refund).all(".list tbody .sub")
    assert ["支払い", "refund", "a&b"] == shown.all(".known a")


def test_a_run_is_grouped_by_a_field_of_its_cases(known):
    shown = known.get("/runs/run-1?group_by=metadata.level")

    assert ["", "cluster", "label", "metadata.level", "tags"] == shown.attributes(
        "select[name=group_by] option", "value"
    )
    assert [
        ["3", "2", "1", "0%", "0%", "100%", "50", "1 / 1"],
        ["10", "1", "1", "0%", "0%", "100%", "50", "1 / 1"],
        ["(none)", "1", "1", "0%", "0%", "100%", "50", "–"],
    ] == shown.table(".groups")
    assert not known.get("/runs/run-1").tree.css(".groups")
    assert 404 == known.get("/runs/run-1?group_by=level").status


@pytest.mark.parametrize(
    ("lang", "omissions", "facts"),
    [
        ("en", "not shown to jurors: 2 image/png (96 KB), 1 audio/wav", ["Tags", "Metadata"]),
        ("ja", "陪審員に示されていないもの: image/png 2件（96 KB）、audio/wav 1件", ["タグ", "メタデータ"]),
    ],
)
def test_the_page_of_a_debate_lists_what_no_juror_was_shown(known, lang, omissions, facts):
    shown = known.get(f"/debates/run-1~two?lang={lang}")

    assert omissions == shown.one(".omissions")
    assert facts == [one for one in shown.all(".facts dt") if one in facts]
    assert not known.get("/debates/run-1~one").tree.css(".omissions")


def test_a_search_finds_jurors_texts_and_links_to_the_event(site):
    shown = site.get("/?search=OVERLOOKED+code")

    assert ["run-1~two", "run-1~one"] == shown.all(".list tbody .sub")
    assert ["Found: I overlooked the code; I now fail it."] * 2 == shown.all(".found")
    (link,) = {one for one in shown.attributes(".found", "href") if one and "run-1~two" in one}
    assert link.startswith("/debates/run-1~two/events#e-")


def test_a_heading_sorts_by_its_column_in_both_directions(site):
    shown = site.get("/?sort=score&order=asc&columns=score&columns=models&verdict=unsafe_fail")

    assert ["Case", "Score ↑", "Models"] == shown.all(".list thead th")
    assert ["ascending"] == [one for one in shown.attributes(".list thead th", "aria-sort") if one]
    assert [
        "/?verdict=unsafe_fail&sort=case&columns=score&columns=models",
        "/?verdict=unsafe_fail&sort=score&columns=score&columns=models",
    ] == shown.attributes(".list thead a", "href")
    assert "open" in shown.node("#more").attributes


def test_all_matching_debates_are_added_up_on_request(site):
    address = site.get("/?run=run-1").node("#totals").attributes["href"]
    shown = site.get(address)

    assert "3 debates, 2 completed, 0 failed, 0 cancelled" == shown.all(".totals p")[0]
    assert not shown.tree.css("#totals")


def test_a_page_beyond_the_last_is_reported(site):
    shown = site.get("/?after=1")

    assert "There are no more debates. First page" == shown.one("main > .absent")


def test_a_run_shows_how_many_of_its_cases_are_finished():
    store = stored(debate("one"), debate("two", whole=False))
    store.store_run_size("run-1", 123)
    site = Site(store)
    shown = site.get("/runs/run-1")

    assert "1 of 123 debates finished" == shown.one("#h-progress + p")
    assert ["completed", "open", "not begun"] == [row[0] for row in shown.table("[aria-labelledby=h-progress]")]
    assert [["run-1", "123", "1"]] == [row[:3] for row in site.get("/runs").table(".list")]
    store.store_run_size("run-1", None)
    assert "1 finished of 2 debates begun so far" == site.get("/runs/run-1").one("#h-progress + p")


def test_an_empty_store_names_the_command_to_begin():
    assert "No debates yet. Run one with: jury demo" == Site(stored()).get("/").one("main > .absent")
    assert "jury run" in Site(stored()).get("/runs").one("main > .absent")


def test_the_runs_are_listed_newest_first(site):
    assert [["run-2", "1+", "0"], ["run-1", "3+", "2"]] == [row[:3] for row in site.get("/runs").table(".list")]


def test_a_run_has_tables_beside_its_charts(site):
    shown = site.get("/runs/run-1")

    assert [["completed", "2", "66.7%"], ["open", "1", "33.3%"]] == shown.table("[aria-labelledby=h-progress]")
    assert [["✗ unsafe_fail", "2", "100%"]] == shown.table("[aria-labelledby=h-verdicts]")
    assert [["Round 1", "4", "2", "50.0%", "0", "2"]] == shown.table("[aria-labelledby=h-flips]")
    assert ["50–59", "2"] == shown.table("[aria-labelledby=h-scores]")[5]
    assert ["400.0", "200.0"] == shown.attributes("[aria-labelledby=h-progress] .part", "width")


def with_caches(model: str, name: str = "one", *, whole: bool = True) -> DebateBuilder:
    """One call at half of what it lists: 10,000 tokens, of which 8,000 were read from a cache."""
    usage = Usage(input_tokens=10_000, output_tokens=100, cached_input_tokens=8000)
    return debate(name, whole=whole).called(model, CallOutcome.ANSWERED, usage, 0.0033)


@pytest.mark.parametrize(
    ("language", "caches", "without"),
    [
        ("en", "caches: 8 000 read (80%), 0 written", "without caches $0.0105"),
        ("ja", "キャッシュ: 読み取り 8 000（80%）、書き込み 0", "キャッシュなし $0.0105"),
    ],
)
def test_a_run_says_what_was_read_from_caches_and_what_it_would_have_cost_without_them(language, caches, without):
    shown = Site(stored(with_caches("openai/gpt-6-sol"))).get("/runs/run-1", accept_language=language)

    assert [without, caches] == shown.all("[aria-labelledby=h-cost] td .sub")


@pytest.mark.parametrize(("model", "said"), [("own/model", ["without caches unknown"]), (None, [])])
def test_a_run_says_where_that_is_unknown_and_nothing_where_no_cache_was_used(model, said):
    made = debate("one") if model is None else with_caches(model)
    shown = Site(stored(made)).get("/runs/run-1")

    assert said == [one for one in shown.all("[aria-labelledby=h-cost] td .sub") if "without" in one]


def test_a_full_score_is_in_the_last_band():
    full = debate("one")
    full.events[-1] = full.events[-1].changed(final_score=100)

    shown = Site(stored(full)).get("/runs/run-1")

    assert ["90–100", "1"] == shown.table("[aria-labelledby=h-scores]")[-1]


def test_the_page_of_a_running_run_refreshes(site):
    assert ["2000"] == site.get("/runs/run-1").attributes(".run", "data-again")


def test_two_debates_are_compared(site):
    shown = site.get("/compare?a=run-1~one&b=run-2~one")

    assert "Both judge the same case." == shown.all("#h-result + p")[0]
    assert ["Verdict", "✗ unsafe_fail", "unfinished", "≠differs"] == shown.table("[aria-labelledby=h-result]")[0]
    assert ["Round 1", "Juror A (juror-gpt)", "✗ unsafe_fail 61 ↻ Position changed", "–", "≠differs"] in shown.table(
        "[aria-labelledby=h-compared]"
    )
    assert "Clerk" in [row[2] for row in shown.table("[aria-labelledby=h-panels]")]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_every_row_of_a_comparison_has_its_own_name(site, lang):
    shown = site.get("/compare?a=run-1~one&b=run-1~two", accept_language=lang)
    rows = [row[0] for row in shown.table("[aria-labelledby=h-result]")]

    assert len(rows) > 8
    assert sorted(set(rows)) == sorted(rows)


def test_two_runs_are_compared(site):
    shown = site.get("/compare?a=run-1&b=run-2")

    assert [["one", "✗ unsafe_fail 50", "unfinished", "Compare"]] == shown.table("[aria-labelledby=h-flipped]")
    assert "返金, three" == shown.one("[aria-labelledby=h-only-A] p")


@pytest.mark.parametrize("query", ["", "a=run-1", "b=run-1", "a=&b="])
def test_a_comparison_without_two_ids_asks_for_them(site, query):
    shown = site.get(f"/compare?{query}")

    assert 200 == shown.status
    assert ["a", "b"] == shown.attributes("form input", "name")


def test_a_debate_and_a_run_are_not_comparable(site):
    shown = site.get("/compare?a=run-1&b=run-1~one")

    assert "run-1 is a run and run-1~one is a debate; name two debates, or two runs" == shown.one(".notice")


def test_a_malformed_hash_is_shown_as_stored(tmp_path):
    path = tmp_path / "jury.db"
    upgrade(f"sqlite:///{path}")
    writer = open_store(f"sqlite:///{path}", write=True)
    keep(writer, debate("one"))
    writer.close()
    with unguarded(path) as connection:
        connection.execute("UPDATE events SET hash = 'forged' WHERE version = 1")
    store = open_store(f"sqlite:///{path}", write=False)

    page = Site(store).get("/debates/run-1~one/events")
    store.close()

    assert 500 == page.status
    assert "event 1 (opened): a column contains a value of the wrong type" in page.one(".notice.broken")
    assert "'forged'" in page.text.replace("&#39;", "'")


def damaged(event: int) -> Site:
    """run-2 has one debate with another verdict than in run-1, and with an undecodable event."""
    other = debate("one", run="run-2")
    rendered, completed = other.events[-2:]
    assert isinstance(rendered, JudgmentRendered)
    assert isinstance(completed, DebateCompleted)
    other.events[-1] = completed.changed(final_verdict=Verdict.SAFE_PASS)
    store = stored(debate("one"), other)
    store.project()
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE events SET body = x'7b7d' WHERE stream = 'debate/run-2~one' AND version = ?", (event + 1,)
        )
    return Site(store)


@pytest.mark.parametrize("event", [0, 3])
def test_a_comparison_with_a_damaged_record_is_reported_and_keeps_the_ids(event):
    shown = damaged(event).get("/compare?a=run-1~one&b=run-2~one")

    assert 200 == shown.status
    assert f"debate run-2~one was altered: debate/run-2~one, event {event + 1} " in shown.one(".notice.broken")
    assert ["run-1~one", "run-2~one"] == shown.attributes("form.filters input", "value")


def test_runs_are_compared_as_far_as_their_records_can_be_read():
    shown = damaged(0).get("/compare?a=run-1&b=run-2")

    assert 200 == shown.status
    assert "The differences of the panels are unknown: a record cannot be read." in shown.all("section p")


def test_a_comparison_of_runs_marks_token_counts_that_differ():
    spent = debate("one", run="run-2").called(
        "x", CallOutcome.ANSWERED, Usage(input_tokens=120, output_tokens=30), None
    )
    site = Site(stored(debate("one"), debate("one", run="run-3"), spent))

    def tokens(b: str) -> list[str]:
        rows = site.get(f"/compare?a=run-1&b={b}").table("[aria-labelledby=h-result]")
        return next(row for row in rows if row[0] == "Tokens in / out")

    assert ["Tokens in / out", "0 / 0", "120 / 30", "≠differs"] == tokens("run-2")
    assert ["Tokens in / out", "0 / 0", "0 / 0", ""] == tokens("run-3")
