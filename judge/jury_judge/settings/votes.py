"""How a foreign table of votes is read."""

from collections.abc import Mapping

from jury_cases.votes.options import VoteOptions
from jury_cases.votes.words import VerdictWords, parse_words
from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel


class VoteReading(SettingsModel):
    """Which columns are read, and what words mean (docs/votes.md). The defaults are the documented names.

    Attributes:
        fields: columns (dotted if nested) by part of a vote; "" leaves the part out.
        judges: patterns of the columns with the votes of a row on one case.
        label: the column of the human label.
        annotators: patterns of the columns with the labels of several humans.
        cluster: the column with what cases have in common.
        seats: the seats that are read; (): all.
        mappings: what words mean: values of `--map`, or verdicts by word.
        order: the verdicts are these words, from low to high.
        categories: the verdicts are these words, without an order.

    Raises:
        SettingsRefused: a column is named twice.
        CaseFileError: a part of a vote is unknown, or words do not fit each other.
    """

    fields: Mapping[str, str] = {}
    judges: tuple[str, ...] = ()
    label: str | None = None
    annotators: tuple[str, ...] = ()
    cluster: str | None = None
    seats: tuple[str, ...] = ()
    mappings: tuple[str, ...] | Mapping[str, str | None] = ()
    order: str | tuple[str, ...] | None = None
    categories: str | tuple[str, ...] | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        for part in ("label", "cluster"):
            if getattr(self, part) is not None and part in self.fields:
                raise SettingsRefused(f"{{{part}}} and {{fields}} {part}=…: give one of them")
        self.options()

    @property
    def declares(self) -> bool:
        """Whether the verdicts are other words than those of Jury Judge."""
        return self.order is not None or self.categories is not None

    @property
    def words(self) -> VerdictWords:
        """What words of verdicts and labels mean."""
        return parse_words(self.mappings, order=self.order, categories=self.categories)

    def options(self, words: VerdictWords | None = None) -> VoteOptions:
        """The same for `read_votes`; `words` are in place of those that are said here."""
        named = {part: column for part in ("label", "cluster") if (column := getattr(self, part)) is not None}
        return VoteOptions(
            fields={**self.fields, **named},
            judges=self.judges,
            annotators=self.annotators,
            seats=self.seats,
            words=words or self.words,
        )

    def over(self, other: "VoteReading") -> "VoteReading":
        """This reading, and what it does not say as `other` says it."""
        said = {name: getattr(self, name) for name in self.model_fields_set if getattr(self, name)}
        if self.declares:
            other = other.model_copy(update={"order": None, "categories": None})
        return VoteReading.of(**{**dict(other), **said})
