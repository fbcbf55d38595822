"""Which cases are judged, and how their files are read."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar

from pydantic import BeforeValidator, Field

from jury_cases.files import CaseFiles
from jury_cases.formats.registry import format_lines
from jury_cases.labels import parse_map
from jury_cases.options import CaseOptions, read_policy
from jury_events.conditions import Condition, parse_conditions
from jury_events.errors import BadCondition
from jury_events.verdict_scale import VerdictScale
from jury_judge.settings.model import SettingsModel


def _conditions(value: Any) -> Any:
    """Texts are parsed."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        try:
            return parse_conditions(value)
        except BadCondition as error:
            raise ValueError(str(error)) from error
    return value


Conditions = Annotated[tuple[Condition, ...], BeforeValidator(_conditions)]
"""Conditions on cases; texts are parsed."""

__all__ = ["CaseSettings", "Conditions", "format_lines"]

Number = Annotated[int, Field(ge=0)]


class CaseSettings(SettingsModel):
    """How the rows of case files are read, and which of their cases are taken.

    Attributes:
        fields: columns (dotted if nested) by part of a case; "" leaves the part out.
        mappings: what labels mean, as `label:WORD=VERDICT`, more pairs after commas.
        case_format: the form of the rows, by its name or as a format file; None: as each is recognised.
        rows: the dotted path of the rows in a JSON document.
        question: the request of cases that record none.
        policy_file: a text: the instructions that the agents of all cases had.
        roles: what the roles of messages are, by pattern, as `{"Orchestrator*": "agent"}`.
        artifact_roots: folders in which records that a case names by their path may lie, besides that of its file.
        split: the split to read of a folder with several.
        where: conditions, all of which must be met.
        case_ids: patterns, one of which the id must match.
        sample: so many cases drawn at random, in their order.
        seed: of the sample.
        limit: the first cases only, after all other choices.
        skip_unreadable: go on after a row, trace or file that cannot be read.
    """

    file_names: ClassVar[Mapping[str, str]] = {
        "fields": "field",
        "mappings": "map",
        "case_format": "format",
        "policy_file": "policy",
        "roles": "role",
        "artifact_roots": "artifact_root",
        "case_ids": "case_id",
    }

    fields: dict[str, str] = Field(default_factory=dict)
    mappings: tuple[str, ...] = ()
    case_format: str | None = None
    rows: str | None = None
    question: str | None = None
    policy_file: Path | None = None
    roles: dict[str, str] = Field(default_factory=dict)
    artifact_roots: tuple[Path, ...] = ()
    split: str | None = None
    where: Conditions = ()
    case_ids: tuple[str, ...] = ()
    sample: Number | None = None
    seed: Number = 0
    limit: Number | None = None
    skip_unreadable: bool = False

    def files(
        self,
        paths: Iterable[str],
        hosts: frozenset[str] = frozenset(),
        *,
        refuse_labels: bool = True,
        stdin: BinaryIO | None = None,
        scale: VerdictScale | None = None,
    ) -> CaseFiles:
        """The cases of files.

        Args:
            paths: files, folders and globs; `-` is standard input.
            hosts: where `http(s):` records may come from.
            refuse_labels: whether labels that are not understood are refused; else they are none.
            stdin: for `-`.
            scale: of the panel that judges: labels are read in its words.

        Raises:
            CaseFileError: a setting cannot be used.
        """
        options = self.selection(refuse_labels=refuse_labels, scale=scale)
        return CaseFiles(paths, options, allowed_hosts=hosts, artifact_roots=self.artifact_roots, stdin=stdin)

    def selection(self, *, refuse_labels: bool = True, scale: VerdictScale | None = None) -> CaseOptions:
        """How rows are read, and which cases are taken; arguments and errors as of `files`."""
        mapped = parse_map(self.mappings, scale)
        return CaseOptions(
            format=self.case_format,
            fields=self.fields,
            labels=mapped if refuse_labels else mapped.lenient(),
            question=self.question,
            policy=None if self.policy_file is None else read_policy(self.policy_file),
            roles=self.roles,
            rows=self.rows,
            split=self.split,
            where=self.where,
            case_ids=self.case_ids,
            sample=self.sample,
            seed=self.seed,
            limit=self.limit,
            skip_unreadable=self.skip_unreadable,
        )
