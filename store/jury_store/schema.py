"""The declared tables of a store. A test compares them with the result of the Alembic revisions.

Bodies, texts and hashes are bytes, never a JSON column type: the stored bytes are hashed.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.engine import Dialect

from jury_events.verdict import Verdict

REVISION = "log_0001"
"""The Alembic revision that this version of Jury Judge reads and writes."""

POSITION = "position"
EPOCH = "epoch"
"""Names of the counters."""

metadata = MetaData()

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""Ids and labels, compared by bytes, so that both databases list and export in one order."""


class Bytes(LargeBinary):
    """Bytes as the driver returns them: SQLAlchemy would make five zero bytes of the number 5."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:  # noqa: ARG002  (the interface)
        return None


NO_JSON = object()
"""In place of a value that is not JSON."""


class JsonColumn(TypeDecorator[Any]):
    """Decoded JSON stored as text; only in the lists, which can be rebuilt."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002  (the interface)
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002  (the interface)
        try:
            return None if value is None else json.loads(value)
        except (TypeError, ValueError):
            return NO_JSON  # a SQLite column may contain any value


# Positions are assigned by the writer, never by autoincrement.
Table(
    "events",
    metadata,
    Column("position", BigInteger().with_variant(Integer(), "sqlite"), autoincrement=False, nullable=False),
    Column("stream", NAME, nullable=False),
    Column("version", Integer, nullable=False),
    Column("event_id", NAME, nullable=False),
    Column("type", NAME, nullable=False),
    Column("schema", Integer, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("body", Bytes, nullable=False),
    Column("hash", Bytes, nullable=False),
    PrimaryKeyConstraint("position", name="events_pkey"),
    UniqueConstraint("stream", "version", name="events_stream_version"),
    UniqueConstraint("stream", "event_id", name="events_stream_event_id"),
)

Table(
    "streams",
    metadata,
    Column("stream", NAME, nullable=False),
    Column("version", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("hash", Bytes, nullable=False),
    PrimaryKeyConstraint("stream", name="streams_pkey"),
)

# The salt comes before the content, so that reading it does not read a long text.
Table(
    "parts",
    metadata,
    Column("debate_id", NAME, nullable=False),
    Column("digest", Bytes, nullable=False),
    Column("salt", Bytes, nullable=False),
    Column("content", Bytes, nullable=False),
    PrimaryKeyConstraint("debate_id", "digest", name="parts_pkey"),
)

Table(
    "counters",
    metadata,
    Column("name", NAME, nullable=False),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("name", name="counters_pkey"),
)

Table(
    "seals",
    metadata,
    Column("tree_size", BigInteger().with_variant(Integer(), "sqlite"), autoincrement=False, nullable=False),
    Column("root", Bytes, nullable=False),
    Column("frontier", Bytes, nullable=False),
    Column("note", Bytes, nullable=False),
    Column("sealed_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("tree_size", name="seals_pkey"),
)

# Of an imported debate: the seal of its original store, as in the cassette.
Table(
    "origins",
    metadata,
    Column("debate_id", NAME, nullable=False),
    Column("seal", Bytes, nullable=False),
    PrimaryKeyConstraint("debate_id", name="origins_pkey"),
)

# Cosignatures of witnesses and time-stamps of seals.
Table(
    "attestations",
    metadata,
    Column("digest", Bytes, nullable=False),
    Column("tree_size", BigInteger, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("content", Bytes, nullable=False),
    Column("kept_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("digest", name="attestations_pkey"),
)

Table(
    "projections",
    metadata,
    Column("name", NAME, nullable=False),
    Column("position", BigInteger, nullable=False),
    PrimaryKeyConstraint("name", name="projections_pkey"),
)

# As SQLAlchemy writes the conditions for each database.
WAITING: Mapping[str, Any] = {"sqlite_where": text("waiting = 1"), "postgresql_where": text("waiting")}
_BEGUN: Mapping[str, Any] = {"sqlite_where": text("waiting = 0"), "postgresql_where": text("NOT waiting")}
UNFINISHED: Mapping[str, Any] = {
    "sqlite_where": text("ended_at IS NULL AND waiting = 0"),
    "postgresql_where": text("ended_at IS NULL AND NOT waiting"),
}
_ASIDE = text("aside IS NOT NULL")
_IMPORTED = text("imported IS NOT NULL")
_UNREADABLE = text("problem IS NOT NULL")

debates = Table(
    "debates",
    metadata,
    Column("debate_id", NAME, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("run_id", NAME),
    Column("case_id", NAME, nullable=False),
    Column("status", NAME, nullable=False),
    Column("waiting", Boolean, nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("method", NAME, nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("label", NAME),
    Column("cluster", NAME),
    Column("tags", JsonColumn, nullable=False),
    Column("metadata", JsonColumn, nullable=False),
    Column("agent_cost", Float),
    Column("models", JsonColumn),
    Column("inherited_steps", JsonColumn),
    Column("not_shown", Integer, nullable=False),
    Column("case_part", Bytes, nullable=False),
    Column("opened_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("begun_at", BigInteger),
    Column("ended_at", BigInteger),
    Column("final_verdict", NAME),
    Column("final_label", NAME),
    Column("final_score", Integer),
    Column("total_rounds", Integer),
    Column("early_termination", Boolean),
    Column("end_reason", NAME),
    Column("decided_by", NAME),
    Column("quorum_met", Boolean),
    Column("accepted", Boolean),
    Column("partly_read", JsonColumn),
    Column("sides", NAME),
    Column("agreement", Float),
    Column("stage", Integer),
    Column("stages", Integer),
    Column("aside", NAME),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_input_tokens", BigInteger),
    Column("cache_write_tokens", BigInteger),
    Column("cached_calls", JsonColumn),
    Column("cost", Float),
    Column("evidence", JsonColumn),
    Column("evidence_values", Integer),
    Column("asked_again", Integer, nullable=False),
    Column("imported", NAME),
    Column("imported_from", NAME),
    Column("quarantined", NAME),
    Column("human_verdict", NAME),
    Column("reviews", JsonColumn),
    Column("assignments", JsonColumn),
    Column("problem", NAME),
    PrimaryKeyConstraint("debate_id", name="debates_pkey"),
    Index("debates_position", "position", unique=True),
    Index("debates_run", "run_id", "position"),
    # Of a million that wait, none is read for a list of the others, nor for the next one that is to begin.
    Index("debates_begun", "position", **_BEGUN),
    Index("debates_run_begun", "run_id", "position", **_BEGUN),
    Index("debates_waiting", "run_id", "position", "aside", "quarantined", **WAITING),
    Index("debates_unfinished", "position", **UNFINISHED),
    # What a run looks for before it goes on: a handful of debates among a million.
    Index("debates_run_unfinished", "run_id", "position", **UNFINISHED),
    Index("debates_run_aside", "run_id", "position", sqlite_where=_ASIDE, postgresql_where=_ASIDE),
    Index("debates_run_imported", "run_id", "position", sqlite_where=_IMPORTED, postgresql_where=_IMPORTED),
    Index("debates_run_unreadable", "run_id", "position", sqlite_where=_UNREADABLE, postgresql_where=_UNREADABLE),
)

# An index over the columns tags, metadata, cluster and models, inserted when a debate opens. By position, which is
# shorter than an id and in the order of the lists.
debate_fields = Table(
    "debate_fields",
    metadata,
    Column("position", BigInteger, nullable=False),
    Column("name", NAME, nullable=False),
    Column("value", NAME, nullable=False),
    PrimaryKeyConstraint("position", "name", "value", name="debate_fields_pkey"),
    Index("debate_fields_value", "name", "value", "position"),
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", NAME, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("debates", Integer, nullable=False),
    Column("waiting", Integer, nullable=False),
    Column("completed", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("cancelled", Integer, nullable=False),
    *(Column(verdict.value, Integer, nullable=False) for verdict in Verdict),
    Column("first_at", BigInteger, nullable=False),
    Column("begun_at", BigInteger),
    Column("last_at", BigInteger, nullable=False),
    Column("cancelled_by", Text),
    Column("cases", Integer),
    PrimaryKeyConstraint("run_id", name="runs_pkey"),
)

# The ballots of a debate, packed as `ballot_sheet` says: a row a vote takes longer to write and to read. `panel` and
# `votes` are null where an event of the debate cannot be read. What is of the debate, as its case, is in `debates`.
ballots = Table(
    "ballots",
    metadata,
    Column("debate_id", NAME, nullable=False),
    Column("panel", NAME),
    Column("votes", Text),
    PrimaryKeyConstraint("debate_id", name="ballots_pkey"),
)

# How many calls and US dollars a run with a budget has taken at most, with the calls that were sent and not recorded.
# Not part of the log: updated while the run goes on; no judgment depends on it.
run_leases = Table(
    "run_leases",
    metadata,
    Column("run_id", NAME, nullable=False),
    Column("calls_at_most", BigInteger),
    Column("cost_at_most", Float),
    PrimaryKeyConstraint("run_id", name="run_leases_pkey"),
)

# The terms (`search_terms`) of the texts of an event, separated by spaces. `position` is that of the event, `debate`
# that of the opening of its debate.
search_texts = Table(
    "search_texts",
    metadata,
    Column("position", BigInteger().with_variant(Integer(), "sqlite"), autoincrement=False, nullable=False),
    Column("debate", BigInteger, nullable=False),
    Column("terms", Text, nullable=False),
    PrimaryKeyConstraint("position", name="search_texts_pkey"),
    Index("search_texts_debate", "debate"),
)

SEARCH_INDEX = {
    "sqlite": (
        "CREATE VIRTUAL TABLE search_index USING fts5(terms, content='search_texts', content_rowid='position', "
        "tokenize=\"ascii tokenchars '_'\", detail=none, columnsize=0)"
    ),
    "postgresql": (
        "CREATE INDEX search_index ON search_texts USING gin (array_to_tsvector(string_to_array(terms, ' ')))"
    ),
}
"""The full-text index of `search_texts.terms`, which SQLAlchemy cannot declare.

Terms are split and case-folded before they are stored, so the databases must not tokenize further: the tokenizer
`ascii` of FTS5 splits them at spaces only.
"""

SEARCH_SHADOWS = frozenset({"search_index", "search_index_data", "search_index_idx", "search_index_config"})
"""SQLite's tables for that index."""
