"""The files of a path: a file, those of a folder (also of a saved data set, by splits), or the matches of a glob.

Files that belong to a session's file are read with it, and are no cases: Claude Code writes `SESSION.jsonl`, and
`SESSION/subagents/agent-ID.jsonl` with `agent-ID.meta.json`; earlier versions `agent-ID.jsonl` beside it.
"""

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from jury_cases.containers.json_rows import read_rows
from jury_cases.containers.row import FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.regular_files import open_regular, read_regular
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line

JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
CSV_ENDINGS = (".csv", ".tsv", ".tab")
YAML_ENDINGS = (".yaml", ".yml")
TEXT_ENDINGS = (".md", ".markdown", ".txt", ".text", ".log", ".rst")
"""Of files that are one text, unless they begin as JSON does, or as a table does."""
TAB_ENDINGS = (".tsv", ".tab")
COMPRESSED_ENDINGS = (".gz", ".zst")
BINARY_ENDINGS = (".parquet", ".arrow", ".eval")

KNOWN = ", ".join((*JSON_ENDINGS, *CSV_ENDINGS, *BINARY_ENDINGS)) + ", and the texts with .gz or .zst"


def content_ending(path: PurePath | str) -> str:
    """The extension of the content in lower case: `.csv` of `Cases.CSV.gz`; "" if there is none."""
    return _uncompressed(PurePath(path)).suffix.lower()


def bare_name(path: PurePath) -> str:
    """The name without folder and extensions: `cases` of `data/cases.jsonl.gz`."""
    return _uncompressed(path).stem


def is_known(path: PurePath) -> bool:
    """Whether a file of this name is read when its folder is searched."""
    compressed = path.suffix.lower() in COMPRESSED_ENDINGS
    return content_ending(path) in (*JSON_ENDINGS, *CSV_ENDINGS, *(() if compressed else BINARY_ENDINGS))


def _uncompressed(path: PurePath) -> PurePath:
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED_ENDINGS else path


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


STATE = "state.json"
SPLITS = "dataset_dict.json"
METADATA = frozenset({STATE, SPLITS, "dataset_info.json", "dataset_infos.json"})
"""Files without rows."""

_MAX_BYTES = 16 << 20


def saved_members(folder: Path, split: str | None, name: str) -> list[Member] | None:
    """The Arrow files of a saved data set, or of one split of it, in order; None: `folder` is none."""
    if (folder / SPLITS).is_file():
        splits = _texts(_read(folder / SPLITS, name).get("splits"), f"{name}: {SPLITS}: splits")
        chosen = check_split(split, splits, name) or next(iter(splits), None)
        if chosen is None:
            raise CaseFileError(f"{name}: {SPLITS} names no split; save the data set again")
        if not (folder / chosen / STATE).is_file():
            raise CaseFileError(f"{name}: the split {visible_line(chosen)} has no {STATE}; fetch the folder again")
        return _of_state(folder / chosen, PurePath(chosen), name)
    if (folder / STATE).is_file():
        if split is not None:
            raise CaseFileError(f"{name}: --split {visible_line(split)}: this folder is one split; leave --split out")
        return _of_state(folder, PurePath(), name)
    return None


def _of_state(folder: Path, relative: PurePath, name: str) -> list[Member]:
    state = _read(folder / STATE, name)
    if state.get("_indices_data_files"):
        raise CaseFileError(
            f"{name}: {STATE} selects rows by a file of indices; save the data set with datasets 2 or newer"
        )
    listed = state.get("_data_files")
    if not isinstance(listed, list):
        raise CaseFileError(f"{name}: {STATE} names no files; save the data set again")
    place = f"{name}: {STATE}: _data_files"
    names = _texts([item.get("filename") if isinstance(item, dict) else item for item in listed], place)
    missing = [one for one in names if not (folder / one).is_file()]
    if missing:
        shown = ", ".join(visible_line(str(relative / one)) for one in missing[:5])
        raise CaseFileError(f"{name}: {len(missing)} of {len(names)} files are missing: {shown}; fetch them")
    return [Member(folder / one, relative / one) for one in names]


def _texts(value: Any, place: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise CaseFileError(f"{place}: must be a list of names; save the data set again")
    for one in value:
        if PurePath(one).name != one or "\0" in one:
            raise CaseFileError(f"{place}: {visible_line(one)!r} is no name of a file in this folder")
    return value


def _read(path: Path, name: str) -> dict[str, Any]:
    with open_regular(path) as stream:
        content = stream.read(_MAX_BYTES)
    try:
        value = decode_text(content.decode("utf-8"))
    except (JsonRefused, UnicodeDecodeError) as error:
        raise CaseFileError(f"{name}: {path.name}: cannot be read: {visible_line(str(error))}") from error
    if not isinstance(value, dict):
        raise CaseFileError(f"{name}: {path.name}: must be a JSON object")
    return value


class Source(NamedTuple):
    """A file, the `RowSource` of its rows, and the extension of its content, as `content_ending`."""

    path: Path
    origin: RowSource
    ending: str


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
    bare = _uncompressed(member.relative)
    stem = "-".join((*bare.parts[:-1], bare.stem))
    return Source(member.path, RowSource(name or shown(member.path), stem, member.path.parent), bare.suffix.lower())


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
    parts = Path(pattern).parts
    magic = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:magic])


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
"""Names of sessions and agents that may be parts of a path."""

_AGENT = re.compile(r"agent-[A-Za-z0-9_-]+(\.meta)?\.jsonl?")
_OF_SESSIONS = frozenset({"subagents", "tool-results"})
_HEAD = 64 * 1024
_LARGEST_FACTS = 64 * 1024
_MOST = 10_000
"""Sub-agents of one session."""


class AgentFile(NamedTuple):
    """The file of a sub-agent's run.

    Attributes:
        agent_id: of its name.
        path: the file.
        name: of the file in errors.
        facts: what the file beside it says: `agentType`, `toolUseId`.
    """

    agent_id: str
    path: Path
    name: str
    facts: dict[str, Any]

    def rows(self) -> Iterator[FileRow]:
        """Its lines; raises CaseFileError, OSError."""
        with open_regular(self.path, follow=False) as stream:
            yield from read_rows(stream, RowSource(self.name, self.path.stem, self.path.parent))


def belongs_to_session(path: Path) -> bool:
    """Whether a file is read with the session's file that it belongs to, which exists."""
    folder = path.parent
    if folder.name in _OF_SESSIONS:
        return _is_file(folder.parent.with_name(f"{folder.parent.name}.jsonl"))
    if path.name == "sessions-index.json":
        return True
    if _AGENT.fullmatch(path.name) is None or path.suffix != ".jsonl":
        return False
    session = _first_line(path).get("sessionId")
    return isinstance(session, str) and NAME.fullmatch(session) is not None and _is_file(folder / f"{session}.jsonl")


def agent_files(folder: Path, session: str, agents: frozenset[str]) -> list[AgentFile]:
    """The files of a session's sub-agents.

    Args:
        session: the session's id, which is the name of its file.
    """
    if NAME.fullmatch(session) is None or not _is_file(folder / f"{session}.jsonl"):
        return []
    beside = [folder / f"agent-{one}.jsonl" for one in sorted(agents) if NAME.fullmatch(one)]
    inside = folder / session / "subagents"
    paths = sorted(inside.glob("agent-*.jsonl")) if inside.is_dir() else []
    found: list[AgentFile] = []
    for path in [*paths, *beside]:
        if not _is_file(path) or (path in beside and _first_line(path).get("sessionId") != session):
            continue
        if len(found) == _MOST:
            raise CaseFileError(f"more than {_MOST} files of sub-agents; move those of other sessions away")
        name = visible_line(str(path), 1000)
        found.append(AgentFile(path.stem.removeprefix("agent-"), path, name, _facts(path.with_suffix(".meta.json"))))
    return found


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _first_line(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as stream:
            return _decoded(stream.readline(_HEAD))
    except OSError:
        return {}


def _facts(path: Path) -> dict[str, Any]:
    try:
        return _decoded(read_regular(path, _LARGEST_FACTS, follow=False))
    except OSError:
        return {}


def _decoded(content: bytes) -> dict[str, Any]:
    """An object; {} if it is none."""
    try:
        value = decode_text(content.decode("utf-8"))
    except (UnicodeDecodeError, JsonRefused):
        return {}
    return value if isinstance(value, dict) else {}
