"""Compares the model that answered with the one that was asked: providers reroute names without an error."""

import re
from typing import NamedTuple

_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3})$")


class _Name(NamedTuple):
    """`gpt-4o-2024-08-06:free` is the model `gpt-4o`, the snapshot `20240806`, the tag `free`; "" is unknown."""

    model: str
    snapshot: str
    tag: str


def is_other_model(asked: str, answered: str | None) -> bool:
    """Whether `answered`, as the provider named it, is a different model from `asked` (`provider/model`).

    The same model: its dated snapshots (`-2024-08-06`, `-20240307`, `@20240307`, `-001`), its tags (`:free`,
    `-latest`), and its name behind a path (`models/…`) or in other letter case. Two different snapshots, or two
    different tags, are different models. None, where the provider names no model, counts as the same.
    """
    if answered is None:
        return False
    one, other = _name(asked), _name(answered)
    return one.model != other.model or _differ(one.snapshot, other.snapshot) or _differ(one.tag, other.tag)


def _name(written: str) -> _Name:
    last = written.lower().rpartition("/")[2]
    model, at, version = last.partition("@")
    tag = ""
    if at and version.replace("-", "").isdigit():
        return _Name(model, version.replace("-", ""), tag)
    if at:
        tag = version
    else:
        model, _, tag = last.partition(":")
    model, tag = model.removesuffix("-latest"), "" if tag == "latest" else tag
    snapshot = _SNAPSHOT.search(model)
    if snapshot is None:
        return _Name(model, "", tag)
    return _Name(model[: snapshot.start()], snapshot.group(1).replace("-", ""), tag)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other
