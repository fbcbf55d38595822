"""The chart of model calls, and the pending steps of a running debate."""

import pytest

from jury_events import CacheWrite, CallOutcome, CallSettings, ExchangeRecorded, RoundStarted, Usage, make_part
from support.debate_builder import SEATS, DebateBuilder
from support.pages import Page, Site, stored

ADDRESS = "/debates/run-1~c1"
A, B, C = SEATS


def call(
    step: str,
    juror_id: str | None,
    outcome: CallOutcome = CallOutcome.ANSWERED,
    *,
    attempt: int = 1,
    latency: float = 1000.0,
    waited: float = 0.0,
) -> ExchangeRecorded:
    answer = make_part(b"{}", bytes(16)).ref if outcome is CallOutcome.ANSWERED else None
    return ExchangeRecorded(
        step=step,
        juror_id=juror_id,
        model="openai/gpt",
        model_version=None,
        turn=1,
        attempt=attempt,
        request=(),
        tools=False,
        settings=CallSettings(),
        sent=None,
        outcome=outcome,
        answer=answer,
        response=None,
        error=None,
        finish_reason=None,
        usage={"input_tokens": None, "output_tokens": None},  # type: ignore[arg-type]
        cost=None,
        latency_ms=latency,
        waited_ms=waited,
        request_id=None,
        simulated=False,
    )


def page(debate: DebateBuilder, address: str = ADDRESS) -> Page:
    return Site(stored(debate)).get(address)


def in_round_1(order: str = "parallel") -> DebateBuilder:
    debate = DebateBuilder().phase_1()
    rules = debate.panel.discussion.changed(order=order)
    debate.panel = debate.panel.changed(discussion=rules)
    debate.opened_as(panel=debate.panel)
    debate.events.append(RoundStarted(round=1, speaker_order=SEATS, instruction=debate.text("Discuss.")))
    return debate


def test_a_juror_that_answered_before_a_slower_speaker_is_shown_as_answered_without_its_text():
    debate = in_round_1()
    debate.exchanges += [call(f"round-1/{C}", C), call(f"round-1/{B}", B, CallOutcome.TIMEOUT)]

    shown = page(debate)

    assert [
        "◷ Juror A (juror-gpt): asked, no answer yet",
        "↻ Juror B (juror-claude): asked again; call 1 ended: timeout",
        "✓ Juror C (juror-gemini): has answered (shown after Juror A (juror-gpt), Juror B (juror-claude))",
    ] == shown.all(".pending li")
    assert [] == shown.all("[role=log] .statement")


def test_later_speakers_of_a_sequential_round_are_queued():
    debate = in_round_1("sequential")

    assert [
        "◷ Juror A (juror-gpt): asked, no answer yet",
        "… Juror B (juror-claude): has not been asked yet (shown after Juror A (juror-gpt))",
        "… Juror C (juror-gemini): has not been asked yet (shown after Juror A (juror-gpt), Juror B (juror-claude))",
    ] == page(debate).all(".pending li")


def test_phase_1_shows_pending_steps():
    debate = DebateBuilder()
    debate.exchanges.append(call(f"initial/{B}", B))

    assert ["asked, no answer yet", "has answered (shown after Juror A (juror-gpt))", "asked, no answer yet"] == [
        one.partition("): ")[2] for one in page(debate).all("[data-region=pending-evaluations] li")
    ]


@pytest.mark.parametrize(
    ("debate", "address"),
    [
        (DebateBuilder().phase_1().round_1().judged(), ADDRESS),
        (in_round_1(), f"{ADDRESS}?at=3"),
        (in_round_1(), f"{ADDRESS}/export.html"),
    ],
)
def test_no_steps_are_pending_where_no_event_follows(debate, address):
    assert [] == page(debate, address).all(".pending li")


def test_calls_are_drawn_by_seat_and_time_with_waits_and_failures():
    debate = DebateBuilder().phase_1().round_1().judged()
    debate.exchanges += [
        call(f"initial/{A}", A, CallOutcome.RATE_LIMITED, latency=1000),
        call(f"initial/{A}", A, attempt=2, latency=500, waited=250),
        call("final", None, latency=4000),
    ]

    shown = page(debate)

    assert ["Juror A (juror-gpt)", "Juror B (juror-claude)", "Juror C (juror-gemini)", "Final judge", ""] == shown.all(
        ".lane-name"
    )
    assert [("75.0%", "25.0%", "call call-failed"), ("87.5%", "12.5%", "call"), ("0.0%", "100.0%", "call")] == [
        (bar.attributes["x"], bar.attributes["width"], bar.attributes["class"])
        for bar in shown.tree.css(".lane rect.call")
    ]
    assert ["81.25%"] == shown.attributes(".lane rect.call-wait", "x")
    assert [
        ["3", "Final judge", "Final judge", "openai/gpt", "1.1", "answered", "0.00 s", "4.00 s", "–"],
        ["1", "Juror A (juror-gpt)", "Phase 1", "openai/gpt", "1.1", "✗ rate_limited", "3.00 s", "1.00 s", "–"],
        ["2", "Juror A (juror-gpt)", "Phase 1", "openai/gpt", "1.2", "answered", "3.50 s", "0.50 s", "0.25 s"],
    ] == shown.table(".calls-table")
    assert f"{ADDRESS}/exchanges/3" == shown.attributes(".calls-table a", "href")[0]


def test_the_chart_of_an_exported_file_links_within_the_file():
    debate = DebateBuilder().phase_1()
    debate.exchanges.append(call(f"initial/{A}", A))

    file = page(debate, f"{ADDRESS}/export.html")

    assert ["#c-1"] == file.attributes(".calls-table a", "href")
    assert file.node("#c-1")


def test_a_statement_shows_the_changes_since_the_evaluation_before():
    debate = DebateBuilder().phase_1().round_1()

    shown = page(debate)
    changed = shown.node("[role=log] .statement:first-child .changes-since")

    assert "Changes since Phase 1" == changed.css_first("summary").text()
    line = " ".join(changed.css_first("p").text().split())
    assert line.startswith("✓ safe_pass → ✗ unsafe_fail · 92 → 61: task_completion 38 → 30, tool_usage 27 → 20,")
    assert ["All steps were taken."] == [one.text() for one in changed.css("del")]
    assert ["The code was never sent."] == [one.text() for one in changed.css("ins")]
    assert "Same verdict · 40.5 → 40: tool_usage 10.5 → 10" in shown.all(".changes-since p")
    assert 2 == len(shown.all(".changes-since"))


@pytest.mark.parametrize(
    ("language", "cache", "tier"),
    [
        ("en", "Tokens read from / written to the cache", "Service tier"),
        ("ja", "キャッシュから読み取り/書き込みトークン", "サービスティア"),
    ],
)
def test_a_call_shows_what_it_read_from_the_cache_and_wrote_to_it(language: str, cache: str, tier: str) -> None:
    usage = Usage(
        input_tokens=4000,
        output_tokens=5,
        cached_input_tokens=1024,
        cache_writes=(CacheWrite(lifetime="5m", tokens=1000), CacheWrite(lifetime="1h", tokens=500)),
        service_tier="flex",
    )
    debate = DebateBuilder().called("openai/gpt", CallOutcome.ANSWERED, usage, 0.1)
    shown = page(debate, f"{ADDRESS}/exchanges/1?lang={language}")

    facts = dict(zip(shown.all(".exchange dt"), shown.all(".exchange dd"), strict=True))
    assert ["1", "024", "/", "1", "500"] == facts[cache].split()
    assert "flex" == facts[tier]


@pytest.mark.parametrize(
    ("language", "why"),
    [("en", "Why nothing was read from the cache"), ("ja", "キャッシュから読み取れなかった理由")],
)
def test_a_call_shows_why_nothing_was_read_from_the_cache(language: str, why: str) -> None:
    usage = Usage(input_tokens=4000, output_tokens=5, cache_miss="tools_changed")
    debate = DebateBuilder().called("openai/gpt", CallOutcome.ANSWERED, usage, 0.1)
    shown = page(debate, f"{ADDRESS}/exchanges/1?lang={language}")

    facts = dict(zip(shown.all(".exchange dt"), shown.all(".exchange dd"), strict=True))
    assert "tools_changed" == facts[why]


def test_a_call_without_a_cache_says_nothing_of_one() -> None:
    debate = DebateBuilder().called("openai/gpt", CallOutcome.ANSWERED, Usage(input_tokens=4000), 0.1)

    assert "cache" not in page(debate, f"{ADDRESS}/exchanges/1").one(".exchange dl")


def test_the_calls_of_a_model_say_what_caches_were_used_and_what_they_saved() -> None:
    writes = (CacheWrite(lifetime="30m", tokens=500),)
    usage = Usage(input_tokens=10_000, output_tokens=100, cached_input_tokens=8_000, cache_writes=writes)
    debate = DebateBuilder().phase_1().called("openai/gpt-6-sol", CallOutcome.ANSWERED, usage, 0.01)
    debate.called("own/model", CallOutcome.ANSWERED, Usage(input_tokens=10, output_tokens=1), 0.02)

    said = [" ".join(one.split()) for one in page(debate).all("td .sub") if "cache" in one]

    # The list price of the prompt as it was, and without caches: 0.00685 and 0.021 dollars.
    assert ["caches: 8 000 read (80%), 500 written", "without caches $0.0307"] == said
