"""Notes on figures, numbered. Those that differ only in how many clusters or resamples they count are one note."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_analysis.wording import Reason, Wording

_Key = tuple["Wording", tuple[tuple[str, object], ...]]


class FigureNotes:
    """The notes of a section, in the order of their first figure."""

    def __init__(self) -> None:
        self._notes: dict[_Key, list[Reason]] = {}

    def add(self, note: "Reason") -> int:
        """The number of the note, from 1."""
        others = tuple((name, value) for name, value in note.values.items() if name != "n")
        self._notes.setdefault((note.wording, others), []).append(note)
        return list(self._notes).index((note.wording, others)) + 1

    def lines(self) -> "list[Reason]":
        """The notes, as `only 11–25 clusters, fewer than 30: the interval may be too narrow`."""
        return [_one(notes) for notes in self._notes.values()]

    def take(self) -> "list[Reason]":
        """The notes since the last call; the next one is number 1 again."""
        taken, self._notes = self.lines(), {}
        return taken


def _one(notes: "list[Reason]") -> "Reason":
    first = notes[0]
    counts = [count for note in notes if isinstance(count := note.values.get("n"), (int, float))]
    if len(set(counts)) < 2:  # noqa: PLR2004  (a range has two ends)
        return first
    return first.wording(**{**first.values, "n": f"{min(counts)}–{max(counts)}"})
