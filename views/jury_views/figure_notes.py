"""Notes on figures, numbered. Those that differ only in how many clusters or resamples they count are one note."""

import re

_COUNT = re.compile(r"(\d+)( cluster)s?(?=,)|(\d+)( of \d+ resamples)")


class FigureNotes:
    """The notes of a section, in the order of their first figure."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], list[int]] = {}

    def add(self, note: str) -> int:
        """The number of the note, from 1."""
        found = _COUNT.search(note)
        if found is None:
            key, count = (note, ""), []
        else:
            noun = found[2] or found[4]
            key, count = (note[: found.start()], noun + note[found.end() :]), [int(found[1] or found[3])]
        self._counts.setdefault(key, []).extend(count)
        return list(self._counts).index(key) + 1

    def lines(self) -> list[str]:
        """The notes, as `only 11–25 clusters, fewer than 30: the interval may be too narrow`."""
        return [_line(before, after, counts) for (before, after), counts in self._counts.items()]


def _line(before: str, after: str, counts: list[int]) -> str:
    if not counts:
        return before
    least, most = min(counts), max(counts)
    if after.startswith(" cluster") and most != 1:
        after = after.replace(" cluster", " clusters", 1)
    return f"{before}{least if least == most else f'{least}–{most}'}{after}"
