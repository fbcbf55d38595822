"""Why a verdict came: whose words a result gives, which item it names, and what it says where there are none."""

from dataclasses import replace
from typing import Any

from jury_events import DebateCompleted, Decider, Evidence, EvidenceSpan, Judgment, JudgmentRendered, Vote, quotes_part
from jury_views import collaborative_result, line_of, without_quotations
from support.debate_builder import FAIL, PASS, REVIEW, SEATS, DebateBuilder
from support.each_row import each_row

POINTS = {PASS: (38.0, 27.0, 18.0, 9.0), REVIEW: (20.0, 15.0, 10.0, 5.0), FAIL: (5.0, 5.0, 5.0, 5.0)}
QUOTE = "No code was sent."


def judged(
    votes: str,
    confidences: tuple[float, ...] = (0.8, 0.8, 0.8),
    *,
    verdict: Any = FAIL,
    by: Decider = Decider.MAJORITY_VOTE,
    items: tuple[int | None, ...] = (None, None, None),
    judge: str | None = None,
    kinds: tuple[str, ...] = ("own", "own", "own"),
) -> DebateBuilder:
    """A debate without rounds; `votes` has a letter a seat: p(ass), r(eview), f(ail)."""
    debate = DebateBuilder()
    made = []
    for seat, letter, confidence, item, kind in zip(SEATS, votes, confidences, items, kinds, strict=True):
        said = {"p": PASS, "r": REVIEW, "f": FAIL}[letter]
        evidence: dict[str, Any] = {"synthetic": kind == "synthetic"}
        if item is not None:
            entry = Evidence(item=item, says="against", result="verified", span=EvidenceSpan(item=item, start=0, end=5))
            evidence |= {"evidence": (entry,), "quotes": debate.text(quotes_part([QUOTE])), "decisive_item": item}
        one = debate.evaluation(
            said, POINTS[said], f"{seat} says so. Twice. Thrice.", confidence=confidence, **evidence
        )
        debate._evaluated(seat, one)
        made.append((seat, kind, one))
    final = None if judge is None else debate.evaluation(verdict, POINTS[verdict], judge)
    judgment = Judgment(
        method=by.value,
        decided_by=by,
        verdict=verdict,
        score=20,
        mean=20.0,
        votes=tuple(
            Vote(
                juror_id=seat,
                kind=kind,
                position=one.verdict,
                score=one.overall,
                confidence=one.confidence,
                weight=1.0,
                round=0,
                stale=False,
            )
            for seat, kind, one in made
        ),
        quorum=2,
        quorum_votes=3,
        capped=False,
        judge=final,
    )
    completed = DebateCompleted(
        final_verdict=verdict, final_score=20, total_rounds=0, end_reason="no_discussion", early_termination=False
    )
    debate.events += [JudgmentRendered(judgment=judgment, exchanges=()), completed]
    return debate


def result(debate: DebateBuilder) -> dict[str, Any]:
    """The fields that say why, which the whole result and the line agree on."""
    names = ("reason", "reason_by", "decisive")
    whole, line = collaborative_result(debate.events, debate.texts), line_of(debate.history)

    assert [whole[name] for name in names] == [line[name] for name in names]
    return {name: whole[name] for name in names}


@each_row(
    ("debate", "by"),
    [
        (judged("fff", by=Decider.FINAL_JUDGE, judge="It lied."), ["final_judge"]),
        (judged("pff", (0.99, 0.5, 0.9)), [SEATS[2]]),
        (judged("pff", (0.99, 0.9, 0.9)), [SEATS[1]]),
        (judged("pfr", by=Decider.MEDIAN), [SEATS[1]]),
        (judged("ppf", verdict=REVIEW), [SEATS[0], SEATS[2]]),
        (judged("fff", (0.9, 0.8, 0.7), kinds=("synthetic", "own", "own")), [SEATS[1]]),
    ],
)
def test_the_words_are_those_of_whom_the_verdict_follows(debate: DebateBuilder, by: list[str]) -> None:
    found = result(debate)

    assert by == found["reason_by"]
    if by == ["final_judge"]:
        assert "It lied." == found["reason"]
    elif len(by) == 1:
        assert f"{by[0]} says so. Twice." == found["reason"]
    else:
        sides = zip(by, ("safe_pass", "unsafe_fail"), strict=True)
        assert " / ".join(f"{one} ({word}): {one} says so. Twice." for one, word in sides) == found["reason"]


@each_row(
    ("items", "verdict", "expected"),
    [
        ((3, 2, 2), FAIL, (2, 2)),
        ((3, 2, 5), FAIL, (2, 1)),
        ((None, None, None), FAIL, None),
        ((2, 2, 2), PASS, None),
    ],
)
def test_the_decisive_item_is_that_which_most_seats_name(items: Any, verdict: Any, expected: Any) -> None:
    debate = judged(
        "fff" if verdict is FAIL else "ppp", verdict=verdict, items=items if verdict is FAIL else (None,) * 3
    )
    found = result(debate)["decisive"]

    if expected is None:
        assert found is None
    else:
        assert {"item": expected[0], "words": QUOTE, "named_by": expected[1], "seats": 3} == found


def test_what_has_no_words_says_why() -> None:
    debate = judged("fff")
    gone = replace(debate.history, parts={})

    assert "missing" in line_of(gone)["reason"]
    assert [] == line_of(gone)["reason_by"]
    assert None is collaborative_result(DebateBuilder().phase_1().events, {})["reason"]


@each_row(
    ("said", "shown"),
    [
        ("One. Two! Three?", "One. Two!"),
        (
            "It says “No. Never. Not now.” twice. Then it goes on. More.",
            "It says “No. Never. Not now.” twice. Then it goes on.",
        ),
        ("番号を変えた。確認がない。だから失格。", "番号を変えた。確認がない。"),
        ("One\nline", "One line"),
        ("It paid 3.50 dollars. Twice. Again.", "It paid 3.50 dollars. Twice."),
    ],
)
def test_a_reason_is_two_sentences_on_one_line(said: str, shown: str) -> None:
    found = result(judged("fff", by=Decider.FINAL_JUDGE, judge=said))

    assert shown == found["reason"]


def test_a_long_reason_is_cut_at_a_word() -> None:
    found = result(judged("fff", by=Decider.FINAL_JUDGE, judge="word " * 500))["reason"]

    assert 320 >= len(found)
    assert found.endswith("word…")


def test_places_that_others_read_have_no_quoted_words() -> None:
    assert "It said “…” and “…”, “…”." == without_quotations('It said “my card 1234” and "1234", `1234`.')
