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


def test_positions_votes_and_the_result_are_labels_with_their_outcomes_beside_them() -> None:
    shown = page_of(a_right_answer())

    assert "✓ right (safe_pass)" == shown.one(".head .verdict")
    assert ["✓ right (safe_pass) 90", "✓ right (safe_pass) 80", "? partial (needs_review) 60"] == shown.all(
        ".matrix td a"
    )
    assert ["✓ right (safe_pass)", "✓ right (safe_pass)", "? partial (needs_review)"] == [
        row[2] for row in shown.table("#h-votes ~ .wide table")
    ]
    assert shown.all(".matrix tfoot td")[0].startswith("majority 2/3 right")


def test_colours_follow_outcomes_and_no_class_is_a_verdict_word() -> None:
    shown = page_of(a_right_answer())

    classes = {name for value in shown.attributes("[class]", "class") for name in (value or "").split()}
    assert {"v-pass", "v-review"} <= classes
    assert not [name for name in classes if any(verdict.value in name for verdict in Verdict)]


@pytest.mark.parametrize(
    ("lang", "heading"), [("en", "Scale and criteria: answers"), ("ja", "判定尺度と基準: answers")]
)
def test_the_scale_is_folded_on_the_page_with_its_meanings_and_criteria(lang: str, heading: str) -> None:
    shown = page_of(a_right_answer(), lang)

    folded = shown.node("details#scale")
    assert "open" not in folded.attributes
    assert heading == shown.one("#scale > summary")
    assert [
        "✓ right (safe_pass)",
        "? partial (needs_review)",
        "✗ wrong (unsafe_fail)",
        "facts 70",
        "form 30",
    ] == shown.all("#scale dt")
    assert "A part is missing. needs_review" == shown.all("#scale dd")[1]
    assert "You judge whether an answer is right." == shown.one("#scale > p")


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


@pytest.mark.parametrize(
    ("lang", "counted", "same"),
    [("en", "Labels of the scale own (", "Same label in 0 of 1"), ("ja", "判定尺度own（", "1件のうち0件")],
)
def test_two_runs_of_one_scale_are_compared_by_labels(lang: str, counted: str, same: str) -> None:
    four, five = (a_scaled_debate((Says(level),) * 3, **LEVELS) for level in "45")
    shown = runs(a=five, b=four).get(f"/compare?a=a&b=b&lang={lang}")

    assert shown.all("#h-result ~ p")[0].startswith(counted)
    assert same in shown.all("#h-result ~ p")[1]
    assert ["A ↓ · B →", "✓ 5 (safe_pass)", "✓ 4 (safe_pass)"] == shown.all("#h-ends ~ .wide th")[:3]
    assert ["✓ 5 (safe_pass)", "✓ 4 (safe_pass)"] == shown.all("#h-flipped ~ .wide td .verdict")
    assert "5" in shown.all("#h-paired ~ .grid .ends th")[1]


def test_outcomes_of_two_runs_are_compared_where_they_are_asked_for_or_scales_differ() -> None:
    four, five = (a_scaled_debate((Says(level),) * 3, **LEVELS) for level in "45")
    pages = runs(a=five, b=four, other=a_right_answer())
    asked = pages.get("/compare?a=a&b=b&count=outcomes")
    mixed = pages.get("/compare?a=a&b=other")

    assert "Same verdict in 1 of 1" in asked.all("#h-result ~ p")[1]
    assert ["outcomes"] == asked.all("select[name=count] option[selected]")
    assert "The runs are judged in different scales" in mixed.one("#h-result ~ .notice")
    assert ["A ↓ · B →", "✓ safe_pass"] == mixed.all("#h-ends ~ .wide th")[:2]


def test_a_debate_in_the_three_verdicts_has_no_scale_and_no_second_word() -> None:
    shown = Site(stored(DebateBuilder().phase_1().round_1().judged())).get("/debates/run-1~c1")

    assert [] == shown.all("#scale")
    assert "✗ unsafe_fail" == shown.one(".head .verdict")
    assert [] == shown.attributes(".verdict[title]", "title")


@pytest.fixture
def review_of_levels() -> Iterator[Visit]:
    store = MemoryEventStore()
    store_debate(store, mixed_levels(), "d1")
    with review_site(store) as client:
        yield Visit(client, REVIEWERS["ann"])


def test_reviewers_choose_among_the_labels_with_their_meanings(review_of_levels: Visit) -> None:
    page = review_of_levels.get("/reviews/d1")

    assert ["5", "4", "3", "2", "1"] == page.attributes("[name=label]", "value")
    assert ["5", "4", "3", "2", "1"] == page.attributes("[name=label]", "data-key")
    assert "Level 5 of five." == page.all(".choice .meaning")[0]
    assert [] == page.attributes("[name=verdict]", "value")
    assert [] == page.all("#h-jury")


@pytest.mark.parametrize("label", ["7", "safe_pass"])
def test_a_label_that_the_scale_has_not_is_refused_on_the_page(review_of_levels: Visit, label: str) -> None:
    answer = review_of_levels.send("/reviews/d1", label=label)

    assert 409 == answer.status
    assert f"the scale own has no label '{label}'" in answer.one(".notice.broken")


@pytest.mark.parametrize(("lang", "reason"), [("en", "review"), ("ja", "要確認")])
def test_the_queue_has_the_reason_in_the_word_of_the_outcome(lang: str, reason: str) -> None:
    store = MemoryEventStore()
    store_debate(store, a_scaled_debate((Says("5"), Says("3"), Says("2")), **LEVELS), "d1")
    with review_site(store, blind=False) as client:
        (row,) = Visit(client, REVIEWERS["ann"]).get(f"/reviews?lang={lang}").table(".wide")

    assert [reason, "66.7%"] == row[2:4]


def test_a_label_is_recorded_and_shown_with_its_outcome(review_of_levels: Visit) -> None:
    with_item = review_of_levels.send("/reviews/d1", label="5", decisive_item="1")
    answer = review_of_levels.send("/reviews/d1", label="4")
    page = review_of_levels.get("/reviews/d1?lang=ja")

    assert (409, 303) == (with_item.status, answer.status)
    assert "✓ 4 (safe_pass)" in page.one("#recorded")
    assert "✓ 4 (safe_pass)" in page.one(".reviews .evaluation-line")


def test_reviews_over_http_have_the_label_beside_the_verdict(review_of_levels: Visit) -> None:
    client = review_of_levels.client
    headers = {"authorization": f"Bearer {REVIEWERS['bob']}"}
    made = client.post("/api/debates/d1/reviews", json={"label": "2"}, headers=headers)
    refused = client.post("/api/debates/d1/reviews", json={"label": "9"}, headers=headers)

    assert (201, "unsafe_fail", "2") == (made.status_code, made.json()["verdict"], made.json()["label"])
    assert 400 <= refused.status_code < 500
    assert "has no label '9'" in refused.text


@pytest.mark.parametrize(("lang", "heading"), [("en", "By label"), ("ja", "判定語別")])
def test_a_run_has_its_labels_with_their_outcomes_and_links_to_their_debates(lang: str, heading: str) -> None:
    pages = site(d1=a_right_answer(), d2=an_answer_without_facts(), d3=a_right_answer())
    shown = pages.get(f"/runs/r1?lang={lang}")
    (link,) = [one for one in shown.attributes("#h-verdicts ~ .wide a", "href") if "final_label" in str(one)]
    chosen = pages.get(str(link))

    assert heading in shown.all("#h-verdicts ~ .wide th")
    assert ["✓ right (safe_pass)", "2", "100%"] in shown.table("#h-verdicts ~ .wide")
    assert ["✓ right (safe_pass)"] * 2 == [row[1].split(" Review")[0].strip() for row in chosen.table("table.list")]


def test_the_groups_of_a_run_have_the_labels_of_their_verdicts() -> None:
    panel = a_panel(*SEATS, prompts=2, preset="independent", **LEVELS)
    script = by_round({seat: [Says("4")] for seat in SEATS})
    debate = DebateHarness(panel, script, case=a_case(cluster="refunds"), prompts=2).run()
    shown = site(d1=debate).get("/runs/r1?group_by=cluster")

    assert "By label" == shown.all("table.groups thead th")[-1]
    assert "1 × 4" == shown.all("table.groups tbody td")[-1]


def test_a_run_of_levels_has_their_mean_and_split_votes_are_labels() -> None:
    pages = site(
        d1=a_scaled_debate((Says("5"),) * 3, **LEVELS), d2=a_scaled_debate((Says("5"), Says("4"), Says("4")), **LEVELS)
    )
    shown = pages.get("/runs/r1")

    assert "mean level 4.5" == shown.one(".mean-level")
    assert ["2 × ✓ 4 (safe_pass)", "1 × ✓ 5 (safe_pass)"] == shown.all("#h-split ~ .wide .vote-count")


def test_the_list_counts_labels_in_its_totals_and_votes_for_a_label_in_the_agreement() -> None:
    shown = site(d1=a_right_answer()).get("/?totals=1")

    assert "right 1" == shown.one(".totals .badge")
    assert "2 of 3" == shown.one("table.list .agree")


@pytest.mark.parametrize(
    ("lang", "heading", "panel", "jury", "scale"),
    [
        (
            *("en", "Levels (1 to 5)", "Panel (mean of the votes)", "Jury (final verdict)"),
            "The labels of the scale own (",
        ),
        ("ja", "段階（1〜5）", "陪審団（票の平均）", "陪審団（最終判定）", "尺度own（"),
    ],
)
def test_the_statistics_of_levels_have_their_means_and_name_the_scale(
    lang: str, heading: str, panel: str, jury: str, scale: str
) -> None:
    store = MemoryEventStore()
    for number in range(4):
        store_debate(store, mixed_levels(), f"r1~c{number}", run_id="r1", case_id=f"c{number}")

    page = Site(store).get(f"/runs/r1/stats?lang={lang}&include_simulated=true")

    section = page.tree.css_first("[aria-labelledby^=h-levels]")
    assert section is not None
    rows = {row.css_first("th").text(): [cell.text() for cell in row.css("td")] for row in section.css("tbody tr")}
    assert heading == section.css_first("h2").text()
    assert ["5.000", "4.000", "2.000", "3.667"] == [
        rows[name][0].split(" ")[0] for name in ("gpt", "claude", "gemini", panel)
    ]
    assert jury not in rows, "no label is decided"
    assert any(line.startswith(scale) for line in page.all(".sub"))


def test_the_statistics_of_other_labels_have_no_levels() -> None:
    store = MemoryEventStore()
    store_debate(store, a_right_answer(), "r1~c0", run_id="r1", case_id="c0")

    page = Site(store).get("/runs/r1/stats?include_simulated=true")

    assert page.tree.css_first("[aria-labelledby^=h-agreement]") is not None
    assert page.tree.css_first("[aria-labelledby^=h-levels]") is None
