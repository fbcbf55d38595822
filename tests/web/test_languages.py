"""The language of a page, and the completeness of both catalogues."""

import re
from collections import Counter
from enum import StrEnum
from typing import get_args

import pytest

from jury_events import (
    SCHEMAS,
    CallOutcome,
    Case,
    ConsensusStatus,
    CoordinatorResumed,
    Decider,
    EndReason,
    FailureReason,
    FinalMethod,
    Language,
    Message,
    Origin,
    RefusalReason,
    RequestMessage,
    RoundStarted,
    Usage,
    VoteKind,
)
from jury_views import EVENT_WORDS, Translation, term
from jury_web.pages.page_labels import LABELS, PageLabels
from support.debate_builder import SEATS, DebateBuilder
from support.pages import Page, Site, stored

CHOSEN: tuple[tuple[str, str | None, str, str], ...] = (
    ("", None, "", "en"),
    ("", None, "ja", "ja"),
    ("", None, "ja-JP,ja;q=0.9,en;q=0.8", "ja"),
    ("", None, "en;q=0.5, ja;q=0.9", "ja"),
    ("", None, "fr, de;q=0.9, ja;q=0.1", "ja"),
    ("", None, "ja;q=0, en", "en"),
    ("", None, "ja;q=x", "en"),
    ("", None, "*;;;,,=" * 1000, "en"),
    ("", "ja", "en", "ja"),
    ("?lang=en", "ja", "ja", "en"),
    ("?lang=xx", "ja", "en", "ja"),
    ("?lang=JA", None, "en", "ja"),
)
"""Of the address, of the cookie, and of the browser: which language the page has."""


def test_the_url_overrides_the_cookie_and_the_cookie_overrides_the_browser(subtests: pytest.Subtests) -> None:
    site = Site(stored())
    for query, cookie, accept, language in CHOSEN:
        with subtests.test(query, cookie=cookie, accept=accept[:30]):
            site.client.cookies.clear()
            headers = {"accept_language": accept} | ({} if cookie is None else {"cookie": f"jury_lang={cookie}"})
            assert language == site.get(f"/{query}", **headers).node("html").attributes["lang"]


def test_a_chosen_language_is_stored_and_the_switch_links_to_the_other():
    site = Site(stored(DebateBuilder().phase_1()))

    shown = site.get("/debates/run-1~c1?at=3&lang=ja")

    assert ["/debates/run-1~c1?at=3&lang=en"] == shown.attributes(".language", "href")
    assert "ja" == site.get("/").node("html").attributes["lang"]
    assert {"httponly", "samesite=strict"} <= {one.strip().lower() for one in shown.headers["set-cookie"].split(";")}


def test_both_languages_have_the_same_blanks():
    for name, english in _labels("en").items():
        assert english
        assert _blanks(english) == _blanks(_labels("ja")[name]), name


def test_every_language_has_labels_and_none_is_missing():
    languages = set(get_args(Language))

    assert languages == set(LABELS)
    for _subject, name, label in _translations():
        assert languages == {language for language, text in label.texts.items() if text.strip()}, name


def test_no_two_subjects_have_a_label_of_the_same_name():
    named = Counter(name for _subject, name, _label in _translations())

    assert [] == [name for name, count in named.items() if count > 1]


def _translations() -> list[tuple[type, str, Translation]]:
    """Every label, with the subject that has it, and its name."""
    return [
        (subject, name, label)
        for subject in PageLabels.__mro__
        for name, label in vars(subject).items()
        if isinstance(label, Translation)
    ]


def _labels(language: Language) -> dict[str, str]:
    return {name: getattr(LABELS[language], name) for _subject, name, _label in _translations()}


def _blanks(text: object) -> list[str]:
    return sorted(piece.partition("}")[0] for piece in str(text).split("{")[1:])


def test_japanese_is_shown_as_japanese():
    debate = DebateBuilder(language="ja", prompt="返金してください。").phase_1().opened_as(case_id="返金の相談")
    site = Site(stored(debate))

    for address in ("/", "/debates/run-1~c1", "/debates/run-1~c1/events", "/debates/run-1~c1/export.html"):
        assert "返金の相談" in site.get(address).text
    assert "返金してください。" in site.get("/debates/run-1~c1").text


CLOSED: tuple[type[StrEnum], ...] = (ConsensusStatus, Decider, CallOutcome, FailureReason, RefusalReason)
LITERALS = (VoteKind, EndReason, FinalMethod, Origin)
ROLES = {
    name
    for model, field in ((RequestMessage, "role"), (Message, "kind"), (CoordinatorResumed, "cause"))
    for name in get_args(model.model_fields[field].annotation)
}
"""Of messages, of speech in transcripts, and of what a coordinator resumes."""


def test_every_value_of_the_closed_sets_of_the_log_has_a_japanese_term():
    words = {str(one) for closed in CLOSED for one in closed} | {one for kind in LITERALS for one in get_args(kind)}
    words |= {*SCHEMAS, *ROLES}

    assert set() == {word for word in words if term(word, "ja") == word}
    assert {word: word for word in words} == {word: term(word, "en") for word in words}


KEPT = {
    # Terms of the documents, names, and labels that are equal in both languages.
    "Jury Judge",
    "Phase 1",
    "A",
    "B",
    "A ↓ · B →",
    "tags~refund",
    "en",
    "ja",
    "日本語",
    "English",
}


def _catalogue() -> set[str]:
    """Words of three letters or more that only the English labels have."""

    def texts(value: object) -> list[str]:
        return [value] if isinstance(value, str) else [one for each in value for one in texts(each)]  # type: ignore[attr-defined]

    def words(*catalogues: object) -> set[str]:
        found = (text for catalogue in catalogues for text in texts(catalogue) if text not in KEPT)
        return {word.lower() for text in found for word in re.findall("[A-Za-z]{3,}", re.sub("{[^}]*}", "", text))}

    english = words(_labels("en").values(), EVENT_WORDS["en"]) | {str(one) for kind in CLOSED for one in kind}
    return english - words(_labels("ja").values(), EVENT_WORDS["ja"])


def _everything() -> DebateBuilder:
    """A debate with an abstention, a blocked answer, a resumption, failed calls, a transcript and an erasure."""
    items = (
        {"kind": "user", "origin": "user", "text": "返金"},
        {"kind": "tool_call", "call_id": "1", "name": "sagasu", "arguments": "{}"},
        {"kind": "tool_result", "call_id": "1", "name": "sagasu", "text": "", "error": True},
        {"kind": "not_shown", "origin": "environment", "what": "音声"},
    )
    scenario = {
        "scenario_id": "s",
        "question": {"prompt": "返金", "policy": "規則"},
        "execution": {"response": "", "transcript": {"items": items}},
    }
    case = Case.model_validate({"case_id": "c1", "scenarios": (scenario,)})
    debate = DebateBuilder(language="ja", case=case.to_part().decode()).phase_1()
    debate.round_1()
    started = next(event for event in debate.events if isinstance(event, RoundStarted))
    debate.events.append(started.changed(round=2))
    said = debate.evaluation(debate.opened.label, (1.0, 1.0, 1.0, 1.0), "理由。")  # type: ignore[arg-type]
    debate.add_statement(2, 0, "発言。", said.changed(synthetic=True), changed=True)
    debate.events.append(CoordinatorResumed(epoch=2, cause="juror", number=1, repeated_steps=(f"round-2/{SEATS[1]}",)))
    debate.judged()
    debate.called("模型", CallOutcome.RATE_LIMITED, Usage(), None).called("模型", CallOutcome.ANSWERED, Usage(), 0.5)
    return debate.erased("I stay with my verdict.")


IDENTIFIERS = (
    "code, pre, option, .prose, .opening, .why > span, .statement-meta, .subscores, .changes-since p, .verdict, kbd, "
    "input, .language, .facts .sub"
)
"""Elements with texts, ids, models and rubric dimensions, which are not translated."""


def _english_on(page: Page) -> set[str]:
    for node in page.tree.css(f"script, style, title, {IDENTIFIERS}"):
        node.decompose()
    text = " ".join(node.text(separator=" ") for node in page.tree.css("body"))
    text = re.sub(
        r"(?:round-\d+|initial|debate|calls|final|erased|resumed|run-1)[/~][^\s]*|jury [a-z]+(?: --[a-z]+)*", " ", text
    )
    text = re.sub(
        r"juror-[a-z]+|safe_pass|needs_review|unsafe_fail|run-1|simulated/[a-z-]+|Jury Judge|three|asked to|Phase \d",
        " ",
        text,
    )
    return {word.lower() for word in re.findall("[A-Za-z_]{3,}", text)} & _catalogue()


JAPANESE = (
    *("/", "/?check=1", "/runs", "/runs/run-1", "/runs/run-1/stats", "/runs/run-1/stats?include_simulated=true"),
    *("/compare?a=run-1~c1&b=run-1~c2", "/compare?a=run-1&b=run-1", "/debates/run-1~c2"),
    *(f"/debates/run-1~c1{end}" for end in ("", "?at=9", "/events", "/exchanges/1", "/export.html")),
    *("/reviews", "/reviews/run-1~c1", "/reviewers"),
)


def test_no_english_label_is_on_a_japanese_page(subtests: pytest.Subtests) -> None:
    site = Site(
        stored(_everything(), DebateBuilder(language="ja").phase_1().opened_as(debate_id="run-1~c2", case_id="c2"))
    )
    for address in JAPANESE:
        with subtests.test(address):
            shown = site.get(address, accept_language="ja")
            assert 200 == shown.status
            assert set() == _english_on(shown)
