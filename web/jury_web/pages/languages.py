"""The language of a page: from the URL, else from the cookie, else from `Accept-Language`."""

from collections.abc import Mapping
from typing import get_args

from jury_events.panel import Language

COOKIE = "jury_lang"
LANGUAGES: tuple[Language, ...] = get_args(Language)


def chosen_language(query: Mapping[str, str], cookies: Mapping[str, str], accept: str) -> Language:
    """The language of a page; English by default.

    Args:
        query: of the request, with `lang`.
        cookies: of the request.
        accept: its `Accept-Language` header or "" (RFC 9110, 12.5.4).
    """
    for chosen in (query.get("lang"), cookies.get(COOKIE)):
        if (found := _language(chosen or "")) is not None:
            return found
    return next((found for tag in _preferred(accept) if (found := _language(tag)) is not None), "en")


def _preferred(accept: str) -> list[str]:
    """Tags by weight, then by order; without those of weight 0."""
    weighed = []
    for place, piece in enumerate(accept.split(",")[:30]):
        tag, _, parameter = piece.strip().partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            weight = float(value) if name.strip().lower() == "q" else 1.0
        except ValueError:
            continue
        if tag and weight > 0:
            weighed.append((-weight, place, tag))
    return [tag for _, _, tag in sorted(weighed)]


def _language(tag: str) -> Language | None:
    primary = tag.strip().lower().partition("-")[0]
    return next((one for one in LANGUAGES if one == primary), None)
