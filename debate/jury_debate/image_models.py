"""The models that are known to read pictures: `image_models.toml`."""

import tomllib
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files


def reads_images(model: str, own_servers: Collection[str] = ()) -> bool:
    """Whether a model is known to read pictures.

    Args:
        model: `provider/model`.
        own_servers: providers with a custom server, whose models are unknown.
    """
    if model.partition("/")[0] in own_servers:
        return False
    known = _known()
    return _matches(model, known["reading"]) and not _matches(model, known["text_only"])


def _matches(model: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in patterns)


@cache
def _known() -> dict[str, list[str]]:
    return tomllib.loads((files("jury_debate") / "image_models.toml").read_text(encoding="utf-8"))
