"""Labels of human annotators, collected row by row with the positions of the rows."""

from collections.abc import Iterable

import pyarrow as pa

from jury_analysis.label_schema import LABELS
from jury_cases.errors import CaseFileError
from jury_events.text.visible_text import visible_line


class Annotations:
    """Labels by case and annotator."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], tuple[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._labels)

    def add(self, place: str, case_id: str, labels: Iterable[tuple[str, str]], *, once: bool = False) -> None:
        """Add the labels of a row.

        Args:
            place: of the row.
            case_id: of its case.
            labels: by annotator.
            once: whether the same label twice is refused too.

        Raises:
            CaseFileError: an annotator labels a case twice.
        """
        for annotator, label in labels:
            before = self._labels.setdefault((case_id, annotator), (label, place))
            if before[0] != label or (once and before[1] != place):
                raise CaseFileError(
                    f"{place}: annotator {visible_line(annotator, 60)!r} labels case {visible_line(case_id, 120)!r} "
                    f"{visible_line(label, 60)!r} here and {visible_line(before[0], 60)!r} at {before[1]}; "
                    "keep one label"
                )

    def table(self) -> pa.Table:
        """The labels as `LABELS`, sorted by case and annotator."""
        rows = sorted((case, annotator, label) for (case, annotator), (label, _) in self._labels.items())
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
        return pa.table(dict(zip(LABELS.names, columns, strict=True)), schema=LABELS)
