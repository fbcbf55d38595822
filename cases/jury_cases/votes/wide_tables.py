"""Plain wide tables: a row a case, and a column a judge, found by its verdict words where nothing names the judges."""

import re
from collections.abc import Mapping
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.labels import directions, label_word
from jury_cases.votes.fields import OF_A_BALLOT, OF_A_CASE, OF_A_VOTE
from jury_cases.votes.words import VerdictWords
from jury_events.text.visible_text import visible_line

_PARTS = frozenset({*OF_A_BALLOT, *(name for names in (*OF_A_CASE.values(), *OF_A_VOTE.values()) for name in names)})
_TRUTH = frozenset({"human", "humans", "gold", "golden", "truth", "true", "target", "reference", "expected", "correct"})
"""Words of a column that may be the label: it is taken for none, and for no judge."""


class WideTable:
    """The judges of a plain wide table, by its first row.

    Attributes:
        judges: the columns whose values are verdict words; (): it is no such table.
    """

    def __init__(self, row: Mapping[str, Any], words: VerdictWords) -> None:
        self._words = words
        free = [name for name in row if name not in _PARTS and not name.startswith("metadata")]
        self.judges = tuple(name for name in free if self._votes(row[name]))
        self._others = frozenset(free).difference(self.judges)
        for name in () if self.judges else free:
            value = row[name]
            word = str(value) if isinstance(value, bool) else label_word(value)
            means = None if isinstance(value, dict | list | bytes) else directions(word or "", "")
            if means is not None:
                raise CaseFileError(f"{visible_line(name, 60)}: {value!r} is no verdict; {means}")
        for name in self.judges:
            if not _TRUTH.isdisjoint(re.split(r"[^a-z]+", name.lower())):
                shown = visible_line(name, 60)
                raise CaseFileError(
                    f"{shown}: may be the label, or a judge: name it with --label {shown}, and the judges with "
                    f"--judges {visible_line(next((one for one in self.judges if one != name), 'COLUMN'), 60)} …"
                )

    def check(self, row: Mapping[str, Any]) -> None:
        """Refuse a further row in which another column has a verdict word too."""
        for name in self._others & row.keys():
            if self._votes(row[name]):
                named = " ".join(f"--judges {visible_line(one, 60)}" for one in (*self.judges, name))
                raise CaseFileError(
                    f"{visible_line(name, 60)}: has a verdict here and none in the first row; name the columns of the "
                    f"judges: {named}"
                )

    def _votes(self, value: Any) -> bool:
        if value is None or isinstance(value, dict | list | bytes):
            return False
        try:
            return self._words.meaning(value, "verdict") is not None
        except CaseFileError:
            return False
