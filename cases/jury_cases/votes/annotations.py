"""Labels of human annotators, collected row by row with the positions of the rows."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from jury_analysis.label_schema import LABEL_FACTS, LABELS
from jury_cases.errors import CaseFileError
from jury_events.text.visible_text import visible_line


class Annotations:
    """Labels by case and annotator."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], tuple[str, str]] = {}
        self._facts: dict[tuple[str, str], Mapping[str, Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._labels)

    def add(
        self,
        place: str,
        case_id: str,
        labels: Iterable[tuple[str, str]],
        *,
        facts: Mapping[str, Any] = MappingProxyType({}),
        once: bool = False,
    ) -> None:
        """Add the labels of a row.

        Args:
            facts: what the annotators say beside, by column of `LABEL_FACTS`.
            once: whether the same label twice is refused too.
        """
        for annotator, label in labels:
            before = self._labels.setdefault((case_id, annotator), (label, place))
            if before[0] != label or (once and before[1] != place):
                raise CaseFileError(
                    f"{place}: annotator {visible_line(annotator, 60)!r} labels case {visible_line(case_id, 120)!r} "
                    f"{visible_line(label, 60)!r} here and {visible_line(before[0], 60)!r} at {before[1]}; "
                    "keep one label"
                )
            if facts:
                self._facts[case_id, annotator] = facts

    def table(self) -> pa.Table:
        """The labels as `LABELS`, sorted by case and annotator, with the columns of `LABEL_FACTS` that have a value."""
        keys = sorted(self._labels)
        rows = [
            {"case_id": key[0], "annotator": key[1], "label": self._labels[key][0], **self._facts.get(key, {})}
            for key in keys
        ]
        said = {name for facts in self._facts.values() for name in facts}
        return pa.Table.from_pylist(rows, pa.schema([*LABELS, *(one for one in LABEL_FACTS if one.name in said)]))
