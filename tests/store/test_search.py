"""Full-text search: equal on every database, and without erased texts."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jury_events import decode_digest, refs_in
from jury_replay import ErasureOrder, erase
from jury_store import MAX_TEXT_CHARACTERS, Append, DebateFilter, EventStore, open_store, query_terms, terms_of
from support.debates import DebateScript
from support.postgres import PostgresServer

pytestmark = pytest.mark.full_for("postgresql")

TEXTS = {
    "refund": "The agent refunded the order without asking for the PIN_code.",
    "leak": "It LEAKED a password; that is unsafe.",
    "ja": "エージェントは返金の前に本人確認をしていない。",
    "wide": "ＡＢＣ　ﾊﾟｽﾜｰﾄﾞ　を漏らした",
    "long": "filler " * (MAX_TEXT_CHARACTERS // 7 + 1) + "needle",
    "thai": "คืนเงินให้ลูกค้า",
}
FOUND = [
    ("refund", {"refund"}),
    ("REFUNDED order", {"refund"}),
    ("refunded password", set()),
    ("leak", {"leak"}),
    ("eak", {"leak"}),  # a piece of a debate's id
    ("eaked", set()),
    ("pin_", {"refund"}),
    ("返金", {"ja"}),
    ("返", {"ja"}),
    ("い", {"ja"}),
    ("本人確認", {"ja"}),
    ("確認本人", set()),
    ("パスワード", {"wide"}),
    ("abc", {"wide"}),
    ("needle", set()),
    ("filler", {"long"}),
    ("คืนเงิน", {"thai"}),
    ('"', set()),
    ("'", set()),
    ("refund OR leak", set()),
    ("refund* NEAR(", set()),
    ("terms: -refund", set()),
    ("a & !b | (c)", set()),
    ("\\", set()),
    ("refund " * 60, {"refund"}),
    ("%", set()),
]


def _keep(store: EventStore, name: str, text: str, **opened: object) -> DebateScript:
    script = DebateScript(name)
    events = (*script.begins(case_id=f"c-{name[0]}", **opened), script.evaluated(text), *script.whole()[3:])
    store.append([Append(script.stream, events, 0, store.next_epoch())])
    return script


def _found(store: EventStore, search: str) -> set[str]:
    return {row.debate_id for row in store.list_debates(DebateFilter(search=search))}


def _index(store: EventStore) -> None:
    while store.project() or store.index_texts():
        pass


@pytest.mark.parametrize("indexed", [False, True, "anew"])
def test_texts_of_jurors_are_found_by_words(store: EventStore, indexed: bool | str) -> None:
    for name, text in TEXTS.items():
        _keep(store, name, text)
    if indexed:
        _index(store)
    if indexed == "anew":
        store.rebuild()

    assert FOUND == [(search, _found(store, search)) for search, _ in FOUND]


def test_texts_after_the_index_checkpoint_are_found(store: EventStore) -> None:
    _keep(store, "old", "the password")
    _index(store)
    _keep(store, "new", "another password")
    lists_ahead = {row.debate_id for row in store.list_debates(DebateFilter(search="password"))}
    store.project()

    assert {"old", "new"} == lists_ahead == _found(store, "password")
    assert 0 == store.search_lag()


def test_searches_combine_with_filters_and_totals(store: EventStore) -> None:
    for name in ("a", "b", "c"):
        _keep(store, name, "the password", tags=(name,))
    _index(store)
    wanted = DebateFilter(search="password", verdict="safe_pass", run_id="run")

    assert ["c", "b", "a"] == [row.debate_id for row in store.list_debates(wanted)]
    assert 3 == store.totals(wanted).debates
    assert 0 == store.totals(wanted._replace(search="passwords")).debates


def test_an_erased_text_is_no_longer_found_and_others_are(store: EventStore) -> None:
    _keep(store, "gone", "the password")
    _keep(store, "stays", "the password too")
    _index(store)

    erase(store, "gone", ErasureOrder("dpo", "asked"), now=1)

    assert {"stays"} == _found(store, "password")
    _index(store)
    assert {"stays"} == _found(store, "password")
    store.rebuild()
    assert {"stays"} == _found(store, "password")
    assert [] == store.list_faults() + store.list_faults(store.histories(["gone", "stays"]))


def test_one_text_of_several_is_removed(store: EventStore) -> None:
    script = DebateScript("d")
    first, second = script.evaluated("alpha", exchanges=("x",)), script.checked()
    store.append([Append(script.stream, (*script.begins(), first, second), 0, store.next_epoch())])
    _index(store)
    (digest,) = (decode_digest(ref) for ref in refs_in(json.loads(first.body)["evaluation"]["rationale"]))
    erased = script.erased("alpha")
    store.append([Append(script.stream, (erased,), 4, store.next_epoch())], atomic=True, erase=[digest])

    assert set() == _found(store, "alpha")


@pytest.fixture
def canaried(url: str, sql: Callable[[str, str], None]) -> str:
    """A store with texts indexed in many batches, one of them erased and scrubbed after statistics were collected."""
    store = open_store(url, write=True)
    for number in range(40):
        _keep(store, f"d{number}", f"zcanary{number}z and common words of number {number}")
        _index(store)
    if url.startswith("postgresql"):
        sql(url, "ANALYZE")
    erase(store, "d7", ErasureOrder("dpo", "asked"), now=1)
    store.scrub()
    store.close()
    return url


def test_nothing_of_an_erased_text_is_left_in_the_index(
    canaried: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if canaried.startswith("sqlite"):
        folder = tmp_path
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        server.execute("CHECKPOINT")
        folder = Path(server.folder) / "data" / "base"
    left = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())

    # SQLite's index keeps terms without what they share with the one before.
    assert b"anary7z" not in left
    assert b"anary8z" in left
    if canaried.startswith("sqlite"):
        with closing(sqlite3.connect(tmp_path / "jury.db")) as connection:
            connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'search_index', 'row')")
            terms = {
                row[0] for row in connection.execute("SELECT term FROM temp.vocabulary WHERE term LIKE 'zcanary%'")
            }
            connection.execute("INSERT INTO search_index (search_index) VALUES ('integrity-check')")
        assert {f"zcanary{number}z" for number in range(40) if number != 7} == terms


def test_events_beyond_the_search_are_counted(url: str, open_writer: Callable[[str], EventStore]) -> None:
    writer = open_writer(url)
    script = DebateScript("d")
    _keep(writer, "early", "the password")
    exchanges = tuple(script.exchange(number) for number in range(1, 2300))
    writer.append([Append(script.calls, exchanges)])
    _keep(writer, "late", "the password")
    with closing(open_store(url, write=False)) as reader:
        assert 311 == reader.search_lag()
        assert {"early"} == _found(reader, "password")

    assert {"early", "late"} == _found(writer, "password")


def test_the_search_index_is_compared_with_the_log(
    url: str, open_writer: Callable[[str], EventStore], sql: Callable[[str, str], None]
) -> None:
    store = open_writer(url)
    _keep(store, "d", "the password")
    _index(store)
    sql(url, "INSERT INTO search_texts VALUES (4, 1, 'forged')")

    (fault,) = store.list_faults(store.histories(["d"]))

    assert "d" == fault.debate_id
    assert "the search index does not match" in fault.what
    store.rebuild()
    assert [] == store.list_faults(store.histories(["d"]))


def test_terms_are_normalized_in_width_and_case() -> None:
    assert {"it", "is", "ﬁne".replace("ﬁ", "fi"), "123"} == terms_of("It is ﬁne: 123!")
    assert {"返金", "金額", "額", "ok"} == terms_of("返金額OK")
    assert ("返金", "金額") == query_terms("返金額")
    assert () == query_terms("… ?!")
