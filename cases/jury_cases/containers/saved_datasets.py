"""Folders written by `save_to_disk` of Hugging Face `datasets`: Arrow files listed in a `state.json`."""

from pathlib import Path, PurePath
from typing import Any

from jury_cases.containers.splits import Member, check_split
from jury_cases.errors import CaseFileError
from jury_events.regular_files import open_regular
from jury_events.text.strict_json import JsonRefused, decode_text
from jury_events.text.visible_text import visible_line

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
