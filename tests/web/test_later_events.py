"""Pages and the API of an imported debate say whether its origin may have later events, in both languages."""

from pathlib import Path

from jury_events import HumanReviewed, SignedLengths, Verdict, encode, review_stream
from jury_replay import import_cassette, read_cassette
from jury_store import Append, MemoryEventStore
from support.cassettes import exported
from support.printed_page import printed_page
from support.refusals import RefusalTables
from support.review_site import TOKEN, Visit, review_site, waiting

DEBATE = "run-1~c1"
LENGTHS = {
    "without lengths": None,
    "with lengths": SignedLengths(signed_by="example.com/jury", at=1_700_000_000_000_000),
}
NOTHING = dict.fromkeys(("reason", "minutes", "supersedes"))
REVIEW = HumanReviewed(reviewer="ann", verdict=Verdict.UNSAFE_FAIL, blind=True, sampled=False, number=1, **NOTHING)


def imported(folder: Path, lengths: SignedLengths | None) -> MemoryEventStore:
    """A store with a debate of another one and its review, which counts."""
    there, here = MemoryEventStore(), MemoryEventStore()
    waiting(there, 1)
    there.append([Append(review_stream(DEBATE), (encode(REVIEW, recorded_at=1),), 0)])
    path = folder / "one.cassette.jsonl"
    path.write_bytes(exported(there, DEBATE))
    import_cassette(here, read_cassette(path), verified_with="example.com/jury", lengths=lengths)
    return here


def test_an_imported_debate_says_what_its_origin_may_have_later(tmp_path: Path, printed: RefusalTables) -> None:
    own = MemoryEventStore()
    waiting(own, 1)
    found, over_http = {}, []
    for name, store in {
        **{name: imported(tmp_path, one) for name, one in LENGTHS.items()},
        "of this store": own,
    }.items():
        with review_site(store) as client:
            reader = Visit(client, TOKEN)
            for language in ("en", "ja"):
                debate, reviews = (reader.get(f"/{one}/{DEBATE}?lang={language}") for one in ("debates", "reviews"))
                said = (
                    printed_page(debate, ".head", "section[aria-labelledby=h-reviews]"),
                    printed_page(reviews, ".notice", "#h-people ~ *"),
                )
                found[f"{name}, {language}"] = "\n".join(said)
            over_http.append(client.get(f"/api/debates/{DEBATE}").json()["laterEvents"])
    printed.compare("imported", found)

    signed = {"excludedAsOf": "2023-11-14T22:13:20Z", "signedBy": "example.com/jury"}
    assert [{"excludedAsOf": None, "signedBy": None}, signed, None] == over_http
