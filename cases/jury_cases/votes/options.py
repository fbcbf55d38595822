"""How files of votes are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jury_cases.errors import CaseFileError
from jury_cases.votes.fields import check_vote_fields
from jury_cases.votes.words import VerdictWords


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """How the rows of a file are read as votes.

    Attributes:
        fields: columns (dotted if nested) by part of a vote; "" leaves the part out. Where a row has several votes, the
            parts of one (`score`, `decisive_message` …) are fields of its object.
        judges: patterns of the columns with the votes of one seat each, as `judges.*`; (): a row is one vote, unless it
            has a column `judges`.
        annotators: patterns of the columns with the labels of one human each, as `human.*`.
        seats: the seats that are read; (): all.
        words: what words of verdicts and labels mean.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    judges: Sequence[str] = ()
    annotators: Sequence[str] = ()
    seats: Sequence[str] = ()
    words: VerdictWords = field(default_factory=VerdictWords)

    def __post_init__(self) -> None:
        check_vote_fields(self.fields)
        if self.annotators and self.fields.get("label"):
            raise CaseFileError("--label and --annotators: both name the labels; keep one of them")
