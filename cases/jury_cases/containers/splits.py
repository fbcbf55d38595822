"""Splits and shards of a data set in several files, by the files' names."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

from jury_cases.containers.endings import bare_name
from jury_cases.errors import CaseFileError
from jury_events.text.visible_text import visible_line

_SHARD = re.compile(r"(?P<head>.+)-(?P<index>[0-9]{5,9})-of-(?P<total>[0-9]{5,9})", re.ASCII)
_SPLIT = re.compile(r"\w+(\.\w+)*")
_WORDS = re.compile(r"[-_. ]+")
_KNOWN = frozenset({"train", "training", "test", "testing", "validation", "valid", "val", "dev", "eval"})
"""The words by which Hugging Face `datasets` finds splits in names."""
_OF_SAVED = "data"
"""The name of shards written by `save_to_disk`; their split is the folder's name."""
_SHOWN = 5


class Member(NamedTuple):
    """A file of a folder, and its path relative to the folder."""

    path: Path
    relative: PurePath


def split_of(relative: PurePath) -> str | None:
    """The split of a file, by its name or its folder's name; None if neither contains one."""
    name = bare_name(relative)
    shard = _SHARD.fullmatch(name)
    head = shard["head"] if shard else name
    words = [word.lower() for word in _WORDS.split(head)]
    found = next((word for word in (words[0], words[-1]) if word in _KNOWN), None)
    if found is None and shard and head != _OF_SAVED and _SPLIT.fullmatch(head):
        return head
    return found or next((part for part in reversed(relative.parts[:-1]) if part.lower() in _KNOWN), None)


def of_split(members: Sequence[Member], split: str | None, name: str) -> list[Member]:
    """The members of a folder in a split; all if the names contain no split or only one."""
    by_member = [(member, split_of(member.relative)) for member in members]
    splits = sorted({found for _, found in by_member if found is not None})
    chosen = check_split(split, splits, name)
    return [member for member, found in by_member if chosen is None or found == chosen]


def check_split(split: str | None, splits: Sequence[str], name: str) -> str | None:
    """The split to read; None if there is none to choose from."""
    shown = ", ".join(visible_line(one, 60) for one in splits)
    if split is not None and split not in splits:
        there = f"the splits there are {shown}" if splits else "no file's name contains a split; leave --split out"
        raise CaseFileError(f"{name}: --split {visible_line(split)}: no such split; {there}")
    if split is None and len(splits) > 1:
        raise CaseFileError(f"{name}: contains several splits ({shown}); choose one with --split, or name the files")
    return split


def check_shards(members: Iterable[Member], name: str) -> None:
    """Refuse an incomplete set of shards (`train-00000-of-00003`)."""
    there: dict[tuple[PurePath, str, str, str], set[int]] = {}
    for member in members:
        if found := _SHARD.fullmatch(bare_name(member.relative)):
            ending = member.relative.name[len(found.group()) :]
            key = (member.relative.parent, found["head"], found["total"], ending)
            there.setdefault(key, set()).add(int(found["index"]))
    for (folder, head, total, ending), indices in there.items():
        count = int(total)
        if len(indices) >= count:
            continue
        missing = islice((index for index in range(count) if index not in indices), _SHOWN)
        named = [str(folder / f"{head}-{index:0{len(total)}}-of-{total}{ending}") for index in missing]
        more = count - len(indices) - len(named)
        shown = ", ".join(visible_line(one) for one in named) + (f" and {more} more" if more > 0 else "")
        raise CaseFileError(f"{name}: {len(indices)} of {count} shards are there; missing: {shown}; fetch them")
