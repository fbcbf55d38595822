"""Votes in files, and human labels that came later than votes: how each is read, and the table that comes of it."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from jury_analysis.ballots import decoded, schema_of
from jury_cases.containers.rows import STDIN
from jury_cases.containers.sources import bare_name, shown, sources_of
from jury_cases.errors import CaseFileError
from jury_cases.votes.vote_files import LabelFile, read_labels_of, read_votes_of
from jury_cases.votes.vote_rows import ANNOTATOR
from jury_cases.votes.words import VerdictWords
from jury_events.regular_files import open_regular
from jury_events.text import pluralize
from jury_judge.errors import SettingsRefused, VotesNotAlike
from jury_judge.reviews.review_agreement import review_labels
from jury_judge.settings.settings_file import settings_in
from jury_judge.settings.statistics import REVIEWS, Count
from jury_judge.settings.votes import VoteReading
from jury_judge.store_access.counted_panels import chosen_scale
from jury_judge.store_access.stores import Say
from jury_judge.tables.ballot_sources import CountedWords, Votes
from jury_judge.tables.table_files import ENDING, Scales, distinct_scales, scales_metadata, scales_within
from jury_replay.table_file import replace_table
from jury_store.event_store import EventStore


def reading_beside(table: Path) -> Path | None:
    """The file beside a table that says how it is read: the table's name without endings, with `.yaml`; None: none."""
    if not table.name:
        return None
    found = table.with_name(bare_name(table) + ENDING)
    return found if found != table and found.is_file() else None


def read_reading(path: Path) -> VoteReading:
    """How a table is read. The fields are the options of `jury votes`."""
    return settings_in(path, VoteReading)


VOTES = "votes"
"""The name of the table in its file."""

_WORDS = b"jury_judge.words"
"""The key of the file's metadata with the declared verdicts, and what words of later labels mean."""

_BEGINS = b"PAR1"
_ORDER = [(name, "ascending") for name in ("debate_id", "round", "role", "seat")]


def write_votes(path: Path, votes: Votes) -> None:
    """Write votes, a row a vote, and a row each label of an annotator; an older file of votes is replaced at once."""
    schema = schema_of(votes.ballots)
    rows = [decoded(votes.ballots)]
    if votes.labels is not None:
        rows.append(_label_rows(votes.labels, schema))
    table = pa.concat_tables(rows).sort_by(_ORDER).cast(schema)
    words = {
        "categories": votes.words.declared,
        "ordered": votes.words.ordered,
        "labels": dict(votes.words.mapped_labels),
    }
    said = {_WORDS: json.dumps(words, ensure_ascii=False).encode(), **scales_metadata(votes.scales)}
    replace_table(path, VOTES, table, said)


def reading_within(path: Path) -> tuple[VoteReading, VerdictWords] | None:
    """How a file is read that `write_votes` or `write_ballots` wrote, and the words of later labels.

    None: it is another file, or one that says nothing.
    """
    metadata = _metadata_within(path)
    scales = scales_within(metadata)
    if _WORDS not in metadata:
        return (VoteReading.of(scales=scales), VerdictWords()) if scales else None
    words = json.loads(metadata[_WORDS])
    declared = words["categories"]
    reading = VoteReading.of(**{"order" if words["ordered"] else "categories": declared, "scales": scales})
    return reading, VerdictWords(declared, ordered=words["ordered"], labels=words["labels"])


def _metadata_within(path: Path) -> Mapping[bytes, bytes]:
    if not path.is_file():
        return {}
    try:
        with open_regular(path) as file:
            if file.read(len(_BEGINS)) != _BEGINS:
                return {}
            return pq.read_metadata(file).metadata or {}
    except (OSError, pa.ArrowException):
        return {}  # who reads its rows says why


def _label_rows(labels: pa.Table, schema: pa.Schema) -> pa.Table:
    """A row of the role `ANNOTATOR` for each label."""
    case_ids, number = labels["case_id"], labels.num_rows
    columns = {
        "debate_id": case_ids,
        "case_id": case_ids,
        "cluster": case_ids,
        "repeat": pa.repeat(1, number),
        "round": pa.repeat(0, number),
        "role": pa.repeat(ANNOTATOR, number),
        "seat": labels["annotator"],
        "kind": pa.repeat("own", number),
        "verdict": labels["label"],
        "simulated": pa.repeat(False, number),  # noqa: FBT003  (a value of the column)
    }
    rows = pa.table(columns)
    return pa.table(
        {
            field.name: rows[field.name].cast(field.type) if field.name in columns else pa.nulls(number, field.type)
            for field in schema
        },
        schema,
    )


_OF_VOTES = re.compile(r"--(field|map|order|categories|label|annotators)\b")
"""Options of `jury votes` alone."""


class _TableFile(NamedTuple):
    """A file, folder or glob, with how its rows are read and what words of later labels mean."""

    path: str
    reading: VoteReading
    later: VerdictWords


def read_vote_files(paths: Sequence[str], seats: Sequence[str] = (), judges: Sequence[str] = ()) -> Votes:
    """The votes of files as one table.

    Args:
        paths: files, folders and globs; `-` is standard input.
        seats: the seats that are read; (): those that the files name.
        judges: patterns of the columns with the votes of one judge each; (): as the files say.
    """
    try:
        return read_foreign_votes(paths, VoteReading(seats=tuple(seats), judges=tuple(judges)))
    except CaseFileError as error:
        if _OF_VOTES.search(str(error)) is None:
            raise
        raise type(error)(f"{error}; jury votes has these options, and so may a .yaml beside the file") from error


def read_foreign_votes(paths: Sequence[str], asked: VoteReading) -> Votes:
    """The same, read as it is asked, and else as the files say."""
    files = [one for path in paths for one in _files_of(path, asked)]
    words = common_words([(file.path, file.later) for file in files])
    groups = [
        ([file.path for file in alike], reading.options())
        for reading, alike in groupby(files, key=lambda file: file.reading)
    ]
    found = read_votes_of(groups)
    scales: Scales = ()
    if any(file.reading.scales for file in files):
        scales = distinct_scales(scale for file in files for scale in file.reading.scales or (None,))
    return Votes(found.ballots, found.labels, words, scales)


def counted_in_files(votes: Votes, asked: Count | None, *, usual: Count | None = None) -> CountedWords:
    """What is counted of votes of files.

    Args:
        votes: of files that may say scales of the panels' own.
        usual: what is counted if nothing is asked for; None: labels, where all votes are of one scale.
    """
    if not votes.scales:
        if asked is not None:
            raise SettingsRefused(
                "{count} is about panels with a scale of their own: these files say no scale, and their words are what "
                "they are",
                usage=False,
            )
        return CountedWords(votes.words)
    chosen = chosen_scale(votes.scales, asked or usual)
    return CountedWords(VerdictWords.of_chosen(chosen.scale, chosen.counts), chosen, votes.scales)


def read_label_files(paths: Iterable[str], words: VerdictWords) -> tuple[pa.Table, VerdictWords]:
    """The labels of files, and their verdicts: those of the votes, or those that files of labels declare.

    Args:
        words: of the votes; a `.yaml` beside a file of labels says what its own words mean, and which columns are read.
    """
    files = [_label_file(path, words) for path in paths]
    named = [(os.fspath(file.path), file.words) for file in files]
    _check_alike(named if words.declared is None else [("the votes", words), *named])
    return read_labels_of(files), files[0].words


def _label_file(path: str, words: VerdictWords) -> LabelFile:
    beside = None if path == STDIN else reading_beside(Path(path))
    if beside is None:
        return LabelFile(path, words)
    reading = read_reading(beside)
    return LabelFile(path, reading.words, reading.options().fields)


def _files_of(path: str, asked: VoteReading) -> list[_TableFile]:
    """The files of a path; the path itself where all of them are read alike."""
    if path != STDIN:
        try:
            found = [source.path for source in sources_of(path, None)]
        except (OSError, CaseFileError):
            found = []  # who reads its rows says why
        files = [_said(os.fspath(one), asked) for one in found]
        if any(files):
            return [
                file or _TableFile(os.fspath(one), asked, asked.words) for one, file in zip(found, files, strict=True)
            ]
    return [_TableFile(path, asked, asked.words)]


def _said(path: str, asked: VoteReading) -> _TableFile | None:
    """How a file says that it is read; None: it does not."""
    beside = reading_beside(Path(path))
    if beside is not None:
        reading = asked.over(read_reading(beside))
        return _TableFile(path, reading, reading.words)
    within = reading_within(Path(path))
    if within is None:
        return None
    reading = asked.over(within[0])
    return _TableFile(path, reading, reading.words if asked.mappings or asked.declares else within[1])


def common_words(files: Sequence[tuple[str, VerdictWords]]) -> VerdictWords:
    """The verdicts that all files have, and what words of later labels mean."""
    _check_alike(files)
    first = files[0][1]
    labels: dict[str, str | None] = {}
    for path, words in files:
        for word, meaning in words.mapped_labels.items():
            if labels.setdefault(word, meaning) != meaning:
                raise VotesNotAlike(
                    f"{shown(path)}: the label {word!r:.60} means {meaning}, in another file {labels[word]}; "
                    "read both alike"
                )
    return VerdictWords(first.declared, ordered=first.ordered, labels=labels)


def _check_alike(files: Sequence[tuple[str, VerdictWords]]) -> None:
    """Refuse files with different verdicts."""
    for path, words in files[1:]:
        first_path, first = files[0]
        if (words.categories, words.ordered) != (first.categories, first.ordered):
            raise VotesNotAlike(
                f"{shown(path)}: the verdicts are {', '.join(words.categories)}, those of {shown(first_path)} are "
                f"{', '.join(first.categories)}; votes that are counted together have the same verdicts"
            )


def with_later_labels(
    votes: Votes, given: Sequence[str], store: EventStore | None, say: Say, *, random_only: bool = False
) -> Votes:
    """The votes with the labels that came later, if any are given.

    Args:
        say: takes remarks on the random sample of reviews.
        random_only: of reviews only a random sample is read, and then no label of a case itself: it was not drawn.
    """
    if not given:
        return votes
    if votes.labels is not None:
        raise SettingsRefused("{annotators} and {labels}: both give labels; keep one of them", usage=False)
    labels, words = later_labels(given, votes.words, store, say, random_only=random_only)
    ballots = _without_labels(votes.ballots) if random_only and REVIEWS in given else votes.ballots
    return votes._replace(ballots=ballots, labels=labels, words=words)


def later_labels(
    given: Sequence[str], words: VerdictWords, store: EventStore | None, say: Say, *, random_only: bool = False
) -> tuple[pa.Table, VerdictWords]:
    """The labels of files, and of the reviews of a store where `REVIEWS` is among the names; and their verdicts.

    Those of reviews have the column `jury_analysis.label_schema.DECISIVE_MESSAGE` too.
    """
    files = [one for one in given if one != REVIEWS]
    found: list[pa.Table] = []
    if files:
        table, words = read_label_files(files, words)
        found.append(table)
    if len(files) < len(given):
        assert store is not None, "settings refuse reviews without a store"
        found.append(_reviews(store, words, say, random_only=random_only))
    return pa.concat_tables(found, promote_options="default"), words


def _reviews(store: EventStore, words: VerdictWords, say: Say, *, random_only: bool) -> pa.Table:
    found = review_labels(store, words, random_only=random_only)
    if found.left_out:
        say(f"{pluralize(found.left_out, 'review')} not blind or not drawn at random: left out of the random sample")
    if found.not_reviewed:
        say(
            f"{pluralize(found.not_reviewed, 'case')} drawn at random without a blind review: the sample is random "
            "only if nothing about these cases kept them from being reviewed"
        )
    return found.labels


def _without_labels(ballots: pa.Table) -> pa.Table:
    """The same ballots without the labels that are part of the cases."""
    for name in ("label", "human_label"):
        if name in ballots.column_names:
            place = ballots.schema.get_field_index(name)
            field = ballots.schema.field(place)
            ballots = ballots.set_column(place, field, pa.nulls(ballots.num_rows, field.type))
    return ballots
