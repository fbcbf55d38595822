"""The hot statements of the log in the words of each database, and what else differs between the two."""

# ruff: noqa: S608  (the statements are put together from constants)

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple


class Dialect(NamedTuple):
    """Statements with positional parameters; `texts` packs a list of ids into the one parameter of `..._in`.

    `searchable_digests(n)` reads the texts of n pairs of debate and digest. `search` gives the debates of whose texts one has
    all terms that `sought` packs into its parameter; the index that it uses is kept by `index_terms` and `forget_…`
    where the database does not do that itself.
    """

    name: str
    one_writer: bool
    texts: Callable[[Collection[str]], Any]
    lock_heads: str
    heads_in: str
    insert_head: str
    update_head: str
    insert_part: str
    next_epoch: str
    lock_position: str
    set_position: str
    insert_event: str
    events_by_id: str
    read_stream: str
    read_streams: str
    read_all: str
    last_position: str
    part_digests: str
    erasures: str
    delete_part: str
    parts_of: str
    salts_of_run: str
    hashes: str
    seals: str
    latest_seal: str
    insert_seal: str
    attestations: str
    insert_attestation: str
    origins: str
    insert_origin: str
    store_run_size: str
    searchable_digests: Callable[[int], str]
    search: str
    sought: Callable[[Sequence[str]], str]
    insert_search_text: str
    delete_search_text: str
    index_terms: str | None
    forget_terms: str | None
    forget_all_terms: str | None
    retry_states: frozenset[str]


_EVENT = "position, stream, version, event_id, type, schema, recorded_at, body, hash"
_SEAL = "tree_size, root, frontier, note, sealed_at"
_ATTESTATION = "tree_size, kind, content, kept_at"


def _dialect(
    *,
    name: str,
    mark: str,
    is_in: str,
    texts: Callable[[Collection[str]], Any],
    lock: str,
    skip: str,
    search: str,
    sought: Callable[[Sequence[str]], str],
    keeps_index: bool,
) -> Dialect:
    def written(statement: str) -> str:
        return statement.replace("?", mark)

    return Dialect(
        name=name,
        one_writer=name == "sqlite",
        texts=texts,
        # Locked in one order everywhere, so that two writers wait for each other instead of dying together.
        lock_heads=written(
            f"SELECT stream, version, epoch, hash FROM streams WHERE stream {is_in} ORDER BY stream{lock}"
        ),
        heads_in=written(f"SELECT stream, version, epoch, hash FROM streams WHERE stream {is_in}"),
        insert_head=written("INSERT INTO streams (version, epoch, hash, stream) VALUES (?, ?, ?, ?)" + skip),
        update_head=written("UPDATE streams SET version = ?, epoch = ?, hash = ? WHERE stream = ?"),
        insert_part=written("INSERT INTO parts (debate_id, digest, salt, content) VALUES (?, ?, ?, ?)" + skip),
        next_epoch="UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value",
        lock_position=f"SELECT value FROM counters WHERE name = 'position'{lock}",
        set_position=written("UPDATE counters SET value = ? WHERE name = 'position'"),
        insert_event=written(f"INSERT INTO events ({_EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)" + skip),
        events_by_id=written(f"SELECT {_EVENT} FROM events WHERE stream = ? AND event_id {is_in}"),
        read_stream=written(f"SELECT {_EVENT} FROM events WHERE stream = ? AND version > ? ORDER BY version"),
        read_streams=written(f"SELECT {_EVENT} FROM events WHERE stream {is_in} ORDER BY stream, version"),
        read_all=written(f"SELECT {_EVENT} FROM events WHERE position > ? ORDER BY position LIMIT ?"),
        last_position="SELECT value FROM counters WHERE name = 'position'",
        part_digests=written(f"SELECT debate_id, digest FROM parts WHERE debate_id {is_in}"),
        erasures=written("SELECT body FROM events WHERE stream = ? AND type = 'texts_erased'"),
        delete_part=written("DELETE FROM parts WHERE debate_id = ? AND digest = ?"),
        parts_of=written(f"SELECT debate_id, digest, salt, content FROM parts WHERE debate_id {is_in}"),
        salts_of_run=written(
            "SELECT d.debate_id, d.case_id, d.status, d.case_part, p.salt, d.imported, d.quarantined FROM debates d "
            "LEFT JOIN parts p ON p.debate_id = d.debate_id AND p.digest = d.case_part "
            "WHERE d.run_id = ? ORDER BY d.position"
        ),
        hashes=written("SELECT position, hash FROM events WHERE position > ? ORDER BY position LIMIT ?"),
        seals=f"SELECT {_SEAL} FROM seals ORDER BY tree_size",
        latest_seal=f"SELECT {_SEAL} FROM seals ORDER BY tree_size DESC LIMIT 1",
        # Asked first, because SQLite's guards make a second one an error.
        insert_seal=written(
            f"INSERT INTO seals ({_SEAL}) SELECT ?, ?, ?, ?, ? "
            f"WHERE NOT EXISTS (SELECT 1 FROM seals WHERE tree_size = ?){skip}"
        ),
        attestations=f"SELECT {_ATTESTATION} FROM attestations ORDER BY tree_size, kind, digest",
        insert_attestation=written(
            f"INSERT INTO attestations ({_ATTESTATION}, digest) SELECT ?, ?, ?, ?, ? "
            f"WHERE NOT EXISTS (SELECT 1 FROM attestations WHERE digest = ?){skip}"
        ),
        origins=written(f"SELECT debate_id, seal FROM origins WHERE debate_id {is_in}"),
        insert_origin=written(
            "INSERT INTO origins (debate_id, seal) SELECT ?, ? "
            f"WHERE NOT EXISTS (SELECT 1 FROM origins WHERE debate_id = ?){skip}"
        ),
        # The largest number stays; one that is not known yet takes its place, and gives it to the next that is.
        store_run_size=written(
            "INSERT INTO run_sizes (run_id, cases) VALUES (?, ?) ON CONFLICT (run_id) DO UPDATE SET cases = "
            "CASE WHEN run_sizes.cases > excluded.cases THEN run_sizes.cases ELSE excluded.cases END"
        ),
        searchable_digests=lambda pairs: written(
            "SELECT p.debate_id, p.digest, p.salt, p.content FROM (VALUES "
            + ", ".join(["(?, ?)"] * pairs)
            + ") AS named JOIN parts p ON p.debate_id = named.column1 AND p.digest = named.column2"
        ),
        search=f"SELECT debate FROM search_texts WHERE {search}",
        sought=sought,
        insert_search_text=written("INSERT INTO search_texts (position, debate, terms) VALUES (?, ?, ?)"),
        delete_search_text=written("DELETE FROM search_texts WHERE position = ?"),
        index_terms=None if keeps_index else "INSERT INTO search_index (rowid, terms) VALUES (?, ?)",
        forget_terms=None
        if keeps_index
        else "INSERT INTO search_index (search_index, rowid, terms) "
        "SELECT 'delete', position, terms FROM search_texts WHERE position = ?",
        forget_all_terms=None if keeps_index else "INSERT INTO search_index (search_index) VALUES ('delete-all')",
        # Two writers met: serialization failure, deadlock.
        retry_states=frozenset({"40001", "40P01"}),
    )


# On PostgreSQL a row that is there already is skipped and then missed in the count: an error would abort the driver's
# pipeline, which it complains about. On SQLite the guards make it an error in any case.
SQLITE = _dialect(
    name="sqlite",
    mark="?",
    is_in="IN (SELECT value FROM json_each(?))",
    texts=lambda ids: json.dumps(list(ids), ensure_ascii=False),
    lock="",
    skip="",
    search="position IN (SELECT rowid FROM search_index WHERE search_index MATCH :sought)",
    # Terms hold letters, numbers and low lines alone: none of them ends a quotation.
    sought=lambda terms: " ".join(f'"{term}"*' for term in terms),
    keeps_index=False,
)
POSTGRESQL = _dialect(
    name="postgresql",
    mark="%s",
    is_in="= ANY(%s)",
    texts=list,
    lock=" FOR UPDATE",
    skip=" ON CONFLICT DO NOTHING",
    search="array_to_tsvector(string_to_array(terms, ' ')) @@ CAST(:sought AS tsquery)",
    sought=lambda terms: " & ".join(f"'{term}':*" for term in terms),
    keeps_index=True,
)

DIALECTS = {dialect.name: dialect for dialect in (SQLITE, POSTGRESQL)}
