"""Selection of cases from files, and how their rows are read."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jury_cases.columns import check_targets
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.registry import AskedFormat, asked_format
from jury_cases.labels import Labels, labels_of
from jury_cases.transcripts.authors import RoleRules
from jury_events.case import Case
from jury_events.conditions import Condition, admitted, fields_of, parse_condition
from jury_events.named_files import read_named_text
from jury_events.regular_files import FileTooLarge, read_failure
from jury_events.text import visible_line


@dataclass(frozen=True, kw_only=True)
class CaseOptions:
    """How case files are read, and which cases are selected.

    Attributes:
        format: a name of `FORMATS`, the path of a format file, or the content of one; None: detected per row.
        fields: columns (dotted if nested) by part of a case; "" omits the part.
        labels: verdicts by label word; None: no label.
        policy: default for cases without a policy.
        question: default for cases that record no request, as what a program prints that was given it.
        roles: what the roles of messages are, by pattern (`Orchestrator*`): user, agent, system, tool, environment,
            event, thought; see `RoleRules`.
        rows: the dotted path from each object of a file to its list of rows.
        split: the split to read of a folder with several.
        where: conditions such as `tags~refund`, all of which must match.
        case_ids: patterns (`refund-*`), one of which the id must match; (): any id.
        sample: number of cases drawn at random with `seed`, in file order; None: all.
        seed: of the sample.
        limit: maximum number of cases after all other selections; None: all.
        skip_unreadable: go on after a row, trace or file that cannot be read; else the reading stops with its error.
            A record behind a URI that cannot be read stops the reading in any case.
        has_options: whether who gives the rows can say with options how they are read; else messages name their fields
            alone.
        form: what `format` names; None: detected per row.
        words, conditions, role_rules: what `labels`, `where` and `roles` say.
    """

    format: AskedFormat = None
    fields: Mapping[str, str] = field(default_factory=dict)
    labels: Labels | Mapping[str, str | None] = field(default_factory=Labels)
    policy: str | None = None
    question: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    rows: str | None = None
    split: str | None = None
    where: Sequence[Condition | str] = ()
    case_ids: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None
    skip_unreadable: bool = False
    has_options: bool = True
    form: Format | None = field(init=False, compare=False)
    words: Labels = field(init=False, compare=False)
    conditions: tuple[Condition, ...] = field(init=False, compare=False)
    role_rules: RoleRules = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.fields:
            check_targets(self.fields)
        vars(self).update(  # it is frozen
            conditions=tuple([parse_condition(one) if isinstance(one, str) else one for one in self.where]),
            words=self.labels if isinstance(self.labels, Labels) else labels_of(self.labels),
            role_rules=RoleRules(self.roles),
            form=None if self.format is None else asked_format(self.format),
        )
        if self.limit is not None and self.limit < 0:
            raise CaseFileError(f"the limit {self.limit} is negative; it counts cases from 0 up")
        if self.sample is not None and self.sample < 0:
            raise CaseFileError(f"the sample {self.sample} is negative; it counts cases from 0 up")

    def admits(self, case_id: str, case: Case | None) -> bool:
        """Whether a case is selected by `case_ids`, and by `where` if it is read already."""
        if self.case_ids and self._ids.fullmatch(case_id) is None:
            return False
        return case is None or not self.conditions or admitted(self.conditions, fields_of(case))

    @cached_property
    def _ids(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{fnmatch.translate(pattern)})" for pattern in self.case_ids))


EVERY_CASE = CaseOptions()


MAX_BYTES = 4 * 1024 * 1024


def read_policy(path: Path) -> str:
    """The text of the file."""
    name = visible_line(str(path), 1000)
    try:
        text = read_named_text(path, MAX_BYTES)
    except FileNotFoundError as error:
        raise CaseFileError(f"--policy {name}: there is no such file") from error
    except FileTooLarge as error:
        raise CaseFileError(f"--policy {name}: {error.strerror}; every juror reads all of it") from error
    except UnicodeDecodeError as error:
        raise CaseFileError(f"--policy {name}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        raise CaseFileError(f"--policy {name}: cannot be read: {read_failure(error)}") from error
    if not text.strip():
        raise CaseFileError(f"--policy {name}: the file is empty; leave --policy out")
    return text
