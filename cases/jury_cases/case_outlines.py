"""A source of cases, and how it names some of them without building them, so that a long run resumes quickly."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from random import Random
from typing import Protocol, TypeVar, runtime_checkable

from jury_events.case import Case

Skip = Callable[[Sequence[str]], Container[str]]
"""Takes the ids of the next cases, and returns those of which the id is enough."""

Fetch = Callable[[Case], bool]
"""Whether to read the records that a case's URIs refer to."""

BATCH = 64
"""How many rows of a file are looked up at once, at first: a source may be slow."""

MOST = 1024
"""The most rows that are looked up at once. They are in memory."""

BUILT = 8
"""The same of cases that are built already, whose source may be slow."""

BATCH_BYTES = 4_000_000
"""The next cases are as many as have this size, as far as it is known; one at least."""

T = TypeVar("T")


@runtime_checkable
class OutlinedCases(Protocol):
    """A source of cases that can name some without building them."""

    def outline(self, skip: Skip, fetch: Fetch) -> Iterator[Case | str]:
        """The cases in their order; where `skip` chose a case, its id alone."""
        ...


def outline_of(
    source: OutlinedCases | Callable[[Fetch], Iterable[Case]], skip: Skip, fetch: Fetch
) -> Iterator[Case | str]:
    return source.outline(skip, fetch) if isinstance(source, OutlinedCases) else outlined(source(fetch), skip)


def outlined(cases: Iterable[Case], skip: Skip) -> Iterator[Case | str]:
    """The same for cases that are built already."""
    for batch in batches(cases, most=BUILT):
        skipped = skip([case.case_id for case in batch])
        yield from (case.case_id if case.case_id in skipped else case for case in batch)


def batches(
    items: Iterable[T], size: Callable[[T], int] | None = None, *, first: int = BATCH, most: int = MOST
) -> Iterator[list[T]]:
    """Items in lists that grow twofold; an error of the iterator is raised after the items before it.

    Args:
        items: are drawn as they are needed.
        size: of an item, in bytes; None: not known.
    """
    full = min(first, most)
    batch: list[T] = []
    total = 0
    try:
        for one in items:
            batch.append(one)
            total += 0 if size is None else size(one)
            if len(batch) >= full or total >= BATCH_BYTES:
                yield batch
                batch, total, full = [], 0, min(2 * full, most)
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def drawn(cases: Iterable[object], size: int, seed: int) -> frozenset[int]:
    """The numbers, from 0, of `size` cases drawn at random in one pass: reservoir sampling."""
    random = Random(seed)  # noqa: S311  (a reproducible sample)
    numbers: list[int] = []
    for index, _ in enumerate(cases):
        if index < size:
            numbers.append(index)
        elif (place := random.randrange(index + 1)) < size:
            numbers[place] = index
    return frozenset(numbers)
