"""Pages of debates under a scale of the panel's own: its words are shown, in the colours of their outcomes."""

from collections.abc import Iterator

import pytest

from jury_events import Verdict
from jury_store import MemoryEventStore
from support.debate_builder import DebateBuilder
from support.debate_harness import SEATS, DebateHarness, Says, a_case, a_panel, by_round
from support.pages import Page, Site, stored
from support.review_site import REVIEWERS, Visit, review_site
from support.scaled_debates import (
    a_moved_answer,
    a_right_answer,
    a_scaled_debate,
    an_answer_without_facts,
    mixed_levels,
)
from support.scales import LEVELS
from support.stored_debates import store_debate


def site(**debates: DebateHarness) -> Site:
    store = MemoryEventStore()
    for name, debate in debates.items():
        store_debate(store, debate, name)
    return Site(store)


def page_of(debate: DebateHarness, lang: str = "en") -> Page:
    return site(d1=debate).get(f"/debates/d1?lang={lang}")


def test_positions_votes_and_the_result_are_labels_in_the_colours_of_their_outcomes() -> None:
    shown = page_of(a_right_answer())
    labels = ["✓ right (safe_pass)", "✓ right (safe_pass)", "? partial (needs_review)"]
    classes = {name for value in shown.attributes("[class]", "class") for name in (value or "").split()}

    assert labels[0] == shown.one(".head .verdict")
    assert labels == [cell.rpartition(" ")[0] for cell in shown.all(".matrix td a")]
    assert labels == [row[2] for row in shown.table("#h-votes ~ .wide table")]
    assert shown.all(".matrix tfoot td")[0].startswith("majority 2/3 right")
    assert {"v-pass", "v-review"} <= classes
    assert not [name for name in classes if any(verdict.value in name for verdict in Verdict)]


def test_the_scale_is_folded_on_the_page_with_its_meanings_and_criteria() -> None:
    shown = page_of(a_right_answer())
    labels = ["✓ right (safe_pass)", "? partial (needs_review)", "✗ wrong (unsafe_fail)"]

    assert "open" not in shown.node("details#scale").attributes
    assert "Scale and criteria: answers" == shown.one("#scale > summary")
    assert [*labels, "facts 70", "form 30"] == shown.all("#scale dt")
    assert "A part is missing. needs_review" == shown.all("#scale dd")[1]
    assert "You judge whether an answer is right." == shown.one("#scale > p")
    assert "判定尺度と基準: answers" == page_of(a_right_answer(), "ja").one("#scale > summary")


def test_a_critical_criterion_is_marked_and_its_cap_is_said() -> None:
    english, japanese = (page_of(an_answer_without_facts(), lang) for lang in ("en", "ja"))

    assert (
        "Statements agree with the reference. critical with fewer than 35 points needs_review at best"
        in english.all("#scale dd")
    )
    assert "facts 28/70 critical" == english.all(".subscores li")[0]
    assert "? needs_review" == english.one(".head .verdict")
    assert (
        "Too few points for the critical criterion facts: 28, at least 35 are needed; review at best."
        == english.one(".shortfall")
    )
    assert "重要な基準facts" in japanese.one(".shortfall")


def test_levels_have_their_mean_and_no_points_and_an_outcome_without_a_label_is_said() -> None:
    shown = page_of(mixed_levels())

    assert "mean level 3.67" in shown.one("#h-judgment ~ div .evaluation-line .confidence")
    assert [] == shown.all(".subscores")
    assert "Jurors give no points: the score is that of the label." == shown.one("#scale > .sub")
    assert "The votes agree on the outcome, and on no label." == shown.one(".agreed-on")


def test_a_seat_that_moves_to_another_label_has_changed_its_position() -> None:
    shown = page_of(a_moved_answer())

    assert "✓ right (safe_pass) 80 ↻ Position changed" == shown.table(".matrix")[2][2]
    assert "? partial (needs_review) → ✓ right (safe_pass) · 60 → 80: facts 42 → 56, form 18 → 24" in shown.all(
        ".changes-since p"
    )


def test_a_debate_in_the_three_verdicts_has_no_scale_and_no_second_word() -> None:
    shown = Site(stored(DebateBuilder().phase_1().round_1().judged())).get("/debates/run-1~c1")

    assert [] == shown.all("#scale")
    assert "✗ unsafe_fail" == shown.one(".head .verdict")
    assert [] == shown.attributes(".verdict[title]", "title")


def test_two_debates_are_compared_by_labels() -> None:
    shown = site(d1=a_right_answer(), d2=an_answer_without_facts()).get("/compare?kind=debates&a=d1&b=d2")

    assert ["Verdict", "✓ right (safe_pass)", "? needs_review", "≠differs"] == shown.table("#h-result ~ .wide table")[0]
    assert "? partial (needs_review) 60" == shown.table("#h-compared ~ .wide table")[2][2]


def runs(**debates: DebateHarness) -> Site:
    """Runs of one case each."""
    store = MemoryEventStore()
    for name, debate in debates.items():
        store_debate(store, debate, f"{name}~c1", run_id=name, case_id="c1")
    return Site(store)


def test_two_runs_are_compared_by_labels_where_their_scale_is_one_and_no_outcomes_are_asked_for() -> None:
    four, five = (a_scaled_debate((Says(level),) * 3, **LEVELS) for level in "45")
    pages = runs(a=five, b=four, other=a_right_answer())
    shown, asked, mixed, japanese = (
        pages.get(f"/compare?a=a&{rest}") for rest in ("b=b", "b=b&count=outcomes", "b=other", "b=b&lang=ja")
    )
    counted, same = shown.all("#h-result ~ p")[:2]

    assert counted.startswith("Labels of the scale own (")
    assert "Same label in 0 of 1" in same
    assert ["A ↓ · B →", "✓ 5 (safe_pass)", "✓ 4 (safe_pass)"] == shown.all("#h-ends ~ .wide th")[:3]
    assert ["✓ 5 (safe_pass)", "✓ 4 (safe_pass)"] == shown.all("#h-flipped ~ .wide td .verdict")
    assert "5" in shown.all("#h-paired ~ .grid .ends th")[1]
    assert japanese.all("#h-result ~ p")[0].startswith("判定尺度own（")
    assert "1件のうち0件" in japanese.all("#h-result ~ p")[1]
    assert "Same verdict in 1 of 1" in asked.all("#h-result ~ p")[1]
    assert ["outcomes"] == asked.all("select[name=count] option[selected]")
    assert "The runs are judged in different scales" in mixed.one("#h-result ~ .notice")
    assert ["A ↓ · B →", "✓ safe_pass"] == mixed.all("#h-ends ~ .wide th")[:2]


@pytest.fixture
def review_of_levels() -> Iterator[Visit]:
    store = MemoryEventStore()
    store_debate(store, mixed_levels(), "d1")
    with review_site(store) as client:
        yield Visit(client, REVIEWERS["ann"])


def test_reviewers_choose_among_the_labels_of_the_scale_alone(review_of_levels: Visit) -> None:
    page = review_of_levels.get("/reviews/d1")
    refused = [review_of_levels.send("/reviews/d1", label=label) for label in ("7", "safe_pass")]
    with_item = review_of_levels.send("/reviews/d1", label="5", decisive_item="1")
    sent = review_of_levels.send("/reviews/d1", label="4")
    after = review_of_levels.get("/reviews/d1?lang=ja")

    assert [["5", "4", "3", "2", "1"]] * 2 == [page.attributes("[name=label]", one) for one in ("value", "data-key")]
    assert "Level 5 of five." == page.all(".choice .meaning")[0]
    assert [] == page.attributes("[name=verdict]", "value")
    assert [] == page.all("#h-jury")
    assert [409, 409, 409, 303] == [one.status for one in (*refused, with_item, sent)]
    for label, answer in zip(("7", "safe_pass"), refused, strict=True):
        assert f"the scale own has no label '{label}'" in answer.one(".notice.broken")
    assert "✓ 4 (safe_pass)" in after.one("#recorded")
    assert "✓ 4 (safe_pass)" in after.one(".reviews .evaluation-line")


def test_the_queue_has_the_reason_in_the_word_of_the_outcome() -> None:
    store = MemoryEventStore()
    store_debate(store, a_scaled_debate((Says("5"), Says("3"), Says("2")), **LEVELS), "d1")
    with review_site(store, blind=False) as client:
        ann = Visit(client, REVIEWERS["ann"])
        rows = [ann.get(f"/reviews?lang={lang}").table(".wide")[0] for lang in ("en", "ja")]

    assert [["review", "66.7%"], ["要確認", "66.7%"]] == [row[2:4] for row in rows]


def test_reviews_over_http_have_the_label_beside_the_verdict(review_of_levels: Visit) -> None:
    client = review_of_levels.client
    headers = {"authorization": f"Bearer {REVIEWERS['bob']}"}
    made = client.post("/api/debates/d1/reviews", json={"label": "2"}, headers=headers)
    refused = client.post("/api/debates/d1/reviews", json={"label": "9"}, headers=headers)

    assert (201, "unsafe_fail", "2") == (made.status_code, made.json()["verdict"], made.json()["label"])
    assert 400 <= refused.status_code < 500
    assert "has no label '9'" in refused.text


def test_a_run_has_its_labels_with_their_outcomes_and_links_to_their_debates() -> None:
    pages = site(d1=a_right_answer(), d2=an_answer_without_facts(), d3=a_right_answer())
    shown = pages.get("/runs/r1")
    (link,) = [one for one in shown.attributes("#h-verdicts ~ .wide a", "href") if "final_label" in str(one)]
    chosen = pages.get(str(link))
    listed = site(d1=a_right_answer()).get("/?totals=1")

    assert "By label" in shown.all("#h-verdicts ~ .wide th")
    assert "判定語別" in pages.get("/runs/r1?lang=ja").all("#h-verdicts ~ .wide th")
    assert ["✓ right (safe_pass)", "2", "100%"] in shown.table("#h-verdicts ~ .wide")
    assert ["✓ right (safe_pass)"] * 2 == [row[1].split(" Review")[0].strip() for row in chosen.table("table.list")]
    assert "right 1" == listed.one(".totals .badge")
    assert "2 of 3" == listed.one("table.list .agree")


def test_a_run_of_levels_has_their_mean_split_votes_and_the_labels_of_its_groups() -> None:
    pages = site(
        d1=a_scaled_debate((Says("5"),) * 3, **LEVELS), d2=a_scaled_debate((Says("5"), Says("4"), Says("4")), **LEVELS)
    )
    shown = pages.get("/runs/r1")
    panel = a_panel(*SEATS, preset="independent", **LEVELS)
    script = by_round({seat: [Says("4")] for seat in SEATS})
    grouped = site(d1=DebateHarness(panel, script, case=a_case(cluster="refunds")).run()).get(
        "/runs/r1?group_by=cluster"
    )

    assert "mean level 4.5" == shown.one(".mean-level")
    assert ["2 × ✓ 4 (safe_pass)", "1 × ✓ 5 (safe_pass)"] == shown.all("#h-split ~ .wide .vote-count")
    assert "By label" == grouped.all("table.groups thead th")[-1]
    assert "1 × 4" == grouped.all("table.groups tbody td")[-1]


def test_the_statistics_of_levels_have_their_means_and_name_the_scale() -> None:
    pages = runs_of_cases(mixed_levels(), 4)
    english, japanese = (pages.get(f"/runs/r1/stats?include_simulated=true&lang={lang}") for lang in ("en", "ja"))
    other = runs_of_cases(a_right_answer(), 1).get("/runs/r1/stats?include_simulated=true")
    section = "[aria-labelledby^=h-levels]"
    rows = {row.css_first("th").text(): row.css_first("td").text() for row in english.tree.css(f"{section} tbody tr")}

    assert ["Levels (1 to 5)", "段階（1〜5）"] == [page.one(f"{section} h2") for page in (english, japanese)]
    assert ["5.000", "4.000", "2.000", "3.667"] == [
        rows[name].split(" ")[0] for name in ("gpt", "claude", "gemini", "Panel (mean of the votes)")
    ]
    assert "Jury (final verdict)" not in rows, "no label is decided"
    assert any(line.startswith("The labels of the scale own (") for line in english.all(".sub"))
    assert any(line.startswith("尺度own（") for line in japanese.all(".sub"))
    assert ([], True) == (other.all(section), bool(other.all("[aria-labelledby^=h-agreement]"))), "no levels"


def runs_of_cases(debate: DebateHarness, number: int) -> Site:
    """The run r1 with this debate of each of so many cases."""
    store = MemoryEventStore()
    for case in range(number):
        store_debate(store, debate, f"r1~c{case}", run_id="r1", case_id=f"c{case}")
    return Site(store)
