"""The files of a path: a file, the files of a folder, or the matches of a glob."""

import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from jury_cases.containers.endings import KNOWN, bare_name, is_known
from jury_cases.containers.row import RowSource
from jury_cases.containers.saved_datasets import METADATA, saved_members
from jury_cases.containers.session_files import belongs_to_session
from jury_cases.containers.splits import Member, check_shards, of_split, split_of
from jury_cases.errors import CaseFileError
from jury_events.text.visible_text import visible_line


class Source(NamedTuple):
    """A file, and the `RowSource` of its rows."""

    path: Path
    origin: RowSource


def sources_of(path: str | Path, split: str | None) -> list[Source]:
    """The files of `path`, in order.

    A folder is searched recursively for files with known extensions, in the order of their paths; hidden files and
    links to folders are skipped, as are files that are read with a session. An existing path is not treated as a glob.
    """
    name = shown(path)
    try:
        mode = Path(path).stat().st_mode
    except ValueError as error:
        raise CaseFileError(f"{name}: not a path") from error
    except (FileNotFoundError, NotADirectoryError):
        if not glob.has_magic(str(path)):
            raise
        return [_source(member) for member in _matches(str(path), split, name)]
    if stat.S_ISDIR(mode):
        return [_source(member) for member in _of_folder(Path(path), split, name)]
    if split is not None and split_of(PurePath(Path(path).name)) != split:
        raise CaseFileError(
            f"{name}: --split {visible_line(split)}: this is one file, and its name contains no such split"
        )
    return [_source(Member(Path(path), PurePath(Path(path).name)), name)]


def shown(path: str | Path) -> str:
    """A path, for messages."""
    return visible_line(str(path), 1000)


def _source(member: Member, name: str | None = None) -> Source:
    stem = "-".join((*member.relative.parts[:-1], bare_name(member.relative)))
    return Source(member.path, RowSource(name or shown(member.path), stem, member.path.parent))


def _of_folder(folder: Path, split: str | None, name: str) -> list[Member]:
    saved = saved_members(folder, split, name)
    if saved is not None:
        return saved
    members = list(_walk(folder))
    if not members:
        raise CaseFileError(f"{name}: this is a directory without a case file; files are read that end in {KNOWN}")
    chosen = of_split(members, split, name)
    check_shards(chosen, name)
    return chosen


def _walk(folder: Path) -> Iterator[Member]:
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for one in sorted(names):
            path = Path(parent, one)
            named = not one.startswith(".") and one not in METADATA and is_known(path)
            if named and not belongs_to_session(path):
                yield Member(path, path.relative_to(folder))


def _raise(error: OSError) -> None:
    raise error


def _matches(pattern: str, split: str | None, name: str) -> list[Member]:
    root = _literal_folder(pattern)
    # A pattern with an extension matches such files, known or not; `data/*` only files with known extensions.
    named = PurePath(pattern).suffix != "" and not glob.has_magic(PurePath(pattern).suffix)
    members: list[Member] = []
    for match in sorted(map(Path, glob.iglob(pattern, recursive=True))):  # noqa: PTH207  (pathlib's gives hidden files)
        if match.is_dir():
            members += [Member(found.path, match.relative_to(root) / found.relative) for found in _walk(match)]
        elif (named or is_known(match)) and not belongs_to_session(match):
            members.append(Member(match, match.relative_to(root)))
    unique = list({member.path: member for member in members}.values())
    if not unique:
        raise CaseFileError(f"{name}: no file matches; files are read that end in {KNOWN}")
    return unique if split is None else of_split(unique, split, name)


def _literal_folder(pattern: str) -> Path:
    """The folder above the first part of a pattern with a wildcard."""
    parts = Path(pattern).parts
    magic = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:magic])
