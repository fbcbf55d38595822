"""Pages and the API of an imported debate say whether its origin may have later events, in both languages."""

from pathlib import Path
from typing import Any

import pytest

from jury_events import HumanReviewed, SignedLengths, Verdict, encode, review_stream
from jury_replay import import_cassette, read_cassette
from jury_store import Append, MemoryEventStore
from support.cassettes import exported
from support.review_site import TOKEN, Visit, review_site, waiting

DEBATE = "run-1~c1"
SIGNED = SignedLengths(signed_by="example.com/jury", at=1_700_000_000_000_000)
REVIEW = HumanReviewed(
    reviewer="ann",
    verdict=Verdict.UNSAFE_FAIL,
    reason=None,
    blind=True,
    sampled=False,
    minutes=None,
    supersedes=None,
    number=1,
)


def imported(folder: Path, lengths: SignedLengths | None) -> MemoryEventStore:
    """A store with a debate of another one and its review, which counts."""
    there, here = MemoryEventStore(), MemoryEventStore()
    waiting(there, 1)
    there.append([Append(review_stream(DEBATE), (encode(REVIEW, recorded_at=1),), 0)])
    path = folder / "one.cassette.jsonl"
    path.write_bytes(exported(there, DEBATE))
    import_cassette(here, read_cassette(path), verified_with="example.com/jury", lengths=lengths)
    return here


def texts(store: MemoryEventStore, language: str) -> tuple[str, str, Any]:
    """The page of the debate, the page of its reviews, and the API's word."""
    with review_site(store) as client:
        reader = Visit(client, TOKEN)
        pages = [reader.get(f"/{place}/{DEBATE}?lang={language}").text for place in ("debates", "reviews")]
        answer = client.get(f"/api/debates/{DEBATE}").json()
    return (*pages, answer["laterEvents"])


@pytest.mark.parametrize(
    ("language", "sentence", "mark"),
    [
        ("en", "Later events cannot be excluded", "later events cannot be excluded"),
        ("ja", "以後のイベントがないとは言えません。出所", "以後のイベントの可能性あり"),
    ],
)
def test_without_signed_lengths_later_events_are_not_excluded(
    tmp_path: Path, language: str, sentence: str, mark: str
) -> None:
    debate, reviews, answer = texts(imported(tmp_path, None), language)

    assert 2 == debate.count(sentence)
    assert mark in debate
    assert sentence in reviews
    assert {"excludedAsOf": None, "signedBy": None} == answer


@pytest.mark.parametrize(("language", "sentence"), [("en", "complete as of 2023-11-14"), ("ja", "の時点のすべて")])
def test_with_signed_lengths_the_time_and_the_key_are_shown(tmp_path: Path, language: str, sentence: str) -> None:
    debate, reviews, answer = texts(imported(tmp_path, SIGNED), language)

    for page in (debate, reviews):
        assert sentence in page
        assert "example.com/jury" in page
    assert {"excludedAsOf": "2023-11-14T22:13:20Z", "signedBy": "example.com/jury"} == answer


def test_a_debate_of_this_store_says_nothing_of_it() -> None:
    store = MemoryEventStore()
    waiting(store, 1)
    debate, reviews, answer = texts(store, "en")

    assert "ater events" not in debate + reviews
    assert answer is None
