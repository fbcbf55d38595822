"""The declared verdicts: their names, and whether they have an order."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from jury_analysis.errors import AnalysisError, UnknownVerdict


@dataclass(frozen=True)
class Scale:
    """The categories of verdicts and labels.

    All declared categories count, used or not: AC1 and AC2 depend on their number.
    """

    categories: tuple[str, ...]
    """Names, in ascending order if `ordered`; otherwise in the order in which they were declared."""
    ordered: bool
    """Whether ordinal figures have a meaning. Two categories are always in order."""
    abstaining: str | None = None
    """A category that counts as an abstention against labels, because no label can have it."""

    def __post_init__(self) -> None:
        """Refuse scales without two different categories."""
        if len(set(self.categories)) < len(self.categories):
            raise AnalysisError(f"a verdict is declared twice: {', '.join(self.categories)}")
        if len(self.categories) < 2:  # noqa: PLR2004  (two categories are the least that can disagree)
            raise AnalysisError("a scale needs two verdicts or more: declare them with --order")
        if len(self.categories) > 127:  # noqa: PLR2004  (codes are int8)
            raise AnalysisError(f"{len(self.categories)} verdicts are too many: a scale has at most 127")
        if self.abstaining is not None and self.abstaining not in self.categories:
            raise AnalysisError(f"the abstaining verdict {self.abstaining!r} is none of {', '.join(self.categories)}")

    def code(self, verdict: str) -> int:
        """The position of a verdict in `categories`.

        Raises:
            UnknownVerdict: the verdict is not declared.
        """
        try:
            return self.categories.index(verdict)
        except ValueError:
            raise UnknownVerdict(
                f"{verdict!r:.60} is none of the verdicts {', '.join(self.categories)}: "
                "map it with --map, or declare all verdicts with --order"
            ) from None

    @property
    def abstaining_code(self) -> int | None:
        """The code of `abstaining`, if there is one."""
        return None if self.abstaining is None else self.categories.index(self.abstaining)

    def against(self, labels: Iterable[str]) -> "Scale":
        """The scale for a comparison with labels.

        Where three ordered verdicts meet labels that know only the two ends, the middle one is an abstention.
        """
        known = set(labels)
        ends = {self.categories[0], self.categories[-1]}
        middle = self.ordered and len(self.categories) == 3 and known and known <= ends  # noqa: PLR2004  (two ends and a middle)
        return replace(self, abstaining=self.categories[1]) if middle else replace(self, abstaining=None)


OURS = Scale(("safe_pass", "needs_review", "unsafe_fail"), ordered=True)
"""The verdicts of Jury Judge: safe_pass < needs_review < unsafe_fail."""
