"""Which cases are judged, and how their files are read."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Field

from jury_cases.case_files import CaseFiles
from jury_cases.formats.registry import format_lines
from jury_cases.labels import parse_map
from jury_cases.options import CaseOptions, read_policy
from jury_events.verdict import FAIL, PASS
from jury_events.verdict_scale import VerdictScale
from jury_judge.settings.fields import Conditions
from jury_judge.settings_model import Option, SettingsModel

_which = partial(Option, group="Which cases")
_reading = partial(Option, group="How case files are read")
_Number = Annotated[int, Field(ge=0)]

__all__ = ["CaseSettings", "format_lines"]


class CaseSettings(SettingsModel):
    """How the rows of case files are read, and which of their cases are taken."""

    limit: Annotated[_Number | None, _which(help="Only the first N of these.")] = None
    case_ids: Annotated[
        tuple[str, ...],
        _which(help="Cases of such ids, as in refund-*. Repeatable.", name="--case-id", metavar="GLOB"),
    ] = ()
    where: Annotated[
        Conditions,
        _which(
            help="Only cases that meet a condition, as tags~refund or metadata.level=3. Repeatable: all must be met.",
            metavar="COND",
        ),
    ] = ()
    sample: Annotated[
        _Number | None, _which(help="N cases drawn at random, in their order.", metavar="N", rare=True)
    ] = None
    seed: Annotated[_Number, _which(help="Of --sample.", rare=True)] = 0
    split: Annotated[
        str | None, _which(help="The split of a folder that has several, as in test.", metavar="NAME", rare=True)
    ] = None
    fields: Annotated[
        dict[str, str],
        _reading(
            help="The column of a part, as response=completion; none: left out. Repeatable.",
            name="--field",
            metavar="PART=COLUMN",
        ),
    ] = Field(default_factory=dict)
    mappings: Annotated[
        tuple[str, ...],
        _reading(
            help=f"What labels mean, as label:fail={FAIL},pass={PASS}; none: no label.",
            name="--map",
            metavar="label:WORD=VERDICT",
        ),
    ] = ()
    case_format: Annotated[
        str | None,
        _reading(
            help="The format of rows (jury cases --help), or a format file. [default: as each is recognised]",
            name="--format",
            metavar="NAME|FILE",
        ),
    ] = None
    rows: Annotated[
        str | None,
        _reading(help="Where the rows stand in a JSON document, as in results.results.", metavar="PATH", rare=True),
    ] = None
    question: Annotated[
        str | None,
        _reading(
            help="The request of cases that record none, as what an agent printed that was given it on the command "
            "line.",
            metavar="TEXT",
            rare=True,
        ),
    ] = None
    policy_file: Annotated[
        Path | None,
        _reading(
            help="A text file: the instructions that the agents of all cases had.",
            name="--policy",
            metavar="FILE",
            rare=True,
        ),
    ] = None
    roles: Annotated[
        dict[str, str],
        _reading(
            help="What a role or a speaker's name is: user, agent, system, tool, environment, event or thought, as in "
            "'Orchestrator*=agent'. Repeatable: the first that matches counts.",
            name="--role",
            metavar="PATTERN=WHO",
            typed="last",
            rare=True,
        ),
    ] = Field(default_factory=dict)
    artifact_roots: Annotated[
        tuple[Path, ...],
        _reading(
            help="A folder in which records that a case names by their path may lie, besides that of its file. "
            "Repeatable.",
            name="--artifact-root",
            metavar="FOLDER",
            typed="folders",
            rare=True,
        ),
    ] = ()
    skip_unreadable: Annotated[
        bool,
        _reading(
            help="Go on after a row, trace or file that cannot be read; exit with 4 and the list. [default: stop "
            "there]",
            rare=True,
        ),
    ] = False

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
