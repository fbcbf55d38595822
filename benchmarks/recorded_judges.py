"""Public sets of recorded judges: where their votes are, by digest, and how they are read."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from jury_analysis.labels import label_ballots, resolve
from jury_analysis.scale import Scale
from jury_cases.votes.vote_files import read_votes
from jury_judge.settings.votes import VoteReading


class Refused(Exception):
    """A definition or its file cannot be used."""


class RecordedSet(BaseModel):
    """One file of recorded judges, as `benchmarks/results/NAME.yaml` describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    file: str
    sha256: str
    about: str
    votes: dict[str, Any]
    """Fields of `VoteReading`: what `jury votes` has options for."""
    clusters: str
    """What a cluster is, in the plural."""
    cluster_pattern: str | None = None
    """The column `cluster` matches this wholly; its group is the cluster. None: the column is the cluster."""
    panels: tuple[tuple[str, ...], ...] = ()
    """Panels of three to show; the third is asked last."""
    ladders: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Ladders to certify: of each the judges of every stage, from the cheapest on; the last stage stands."""
    rounds: bool = False
    """It has rounds of discussion; what they change is all that is counted of it."""


class ReadSet(NamedTuple):
    """The votes of a set."""

    recorded: RecordedSet
    ballots: pa.Table
    """With the labels, of people too."""
    scale: Scale

    @property
    def seats(self) -> tuple[str, ...]:
        """All judges, by name."""
        return tuple(sorted(self.ballots["seat"].unique().to_pylist()))

    def of_seats(self, seats: tuple[str, ...]) -> pa.Table:
        """The ballots of these judges alone."""
        return self.ballots.filter(pc.is_in(self.ballots["seat"], value_set=pa.array(seats)))


def definitions(folder: Path) -> list[RecordedSet]:
    """The sets of a folder, by the names of their files.

    Raises:
        Refused: a definition cannot be read.
    """
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise Refused(f"{folder}: there is no definition (*.yaml) of a set")
    return [_definition(path) for path in paths]


def read_set(recorded: RecordedSet, folder: Path) -> ReadSet:
    """The votes of a set, from its file in a folder.

    Raises:
        Refused: there is no such file, or it is another one than the definition names.
        CaseFileError, SettingsRefused: its votes cannot be read.
        AnalysisError: votes and labels do not go together.
    """
    path = folder / recorded.file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}; the set {recorded.name} needs this file") from error
    found = hashlib.sha256(content).hexdigest()
    if found != recorded.sha256:
        raise Refused(
            f"{path}: SHA-256 is {found}, but the set {recorded.name} is of the file {recorded.sha256}: use that file, "
            "or name the digest of this one in the definition"
        )
    reading = VoteReading.of(**recorded.votes)
    votes = read_votes([path], reading.options())
    ballots = votes.ballots
    if votes.labels is not None:
        ballots = label_ballots(ballots, resolve(votes.labels)).ballots
    texts = {name: ballots[name].cast(pa.string()) for name in ("seat", "cluster")}
    if recorded.cluster_pattern is not None:
        texts["cluster"] = _clusters(texts["cluster"], recorded)
    for name, column in texts.items():
        ballots = ballots.set_column(ballots.schema.get_field_index(name), name, column)
    return ReadSet(recorded, ballots, Scale(reading.words.categories, reading.words.ordered))


def _definition(path: Path) -> RecordedSet:
    try:
        return RecordedSet.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Refused(f"{path}: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Refused(f"{path}: {' '.join(str(error).split())}") from error


def _clusters(column: pa.ChunkedArray, recorded: RecordedSet) -> pa.ChunkedArray:
    whole = f"^{recorded.cluster_pattern}$"
    matching = pc.match_substring_regex(column, whole)
    if not pc.all(matching).as_py():
        other = column.filter(pc.invert(matching))[0].as_py()
        raise Refused(f"{recorded.file}: {other!r} does not match the cluster_pattern {recorded.cluster_pattern}")
    return pc.replace_substring_regex(column, pattern=whole, replacement=r"\1")
