"""A request as a page sees it: what it names, what it asks for, and the language of its reader."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from jury_events.panel import Language
from jury_judge.errors import JudgeError
from jury_judge.present.labels import LABELS
from jury_judge.web.pages.languages import COOKIE, chosen_language
from jury_judge.web.pages.rendering import rendered

_NUMBER = re.compile(r"[0-9]{1,18}")
_YEAR = 365 * 24 * 3600
_OTHER: dict[Language, Language] = {"en": "ja", "ja": "en"}


class PageNotFound(JudgeError):
    """The address names nothing that is stored, or asks for what there cannot be."""


class PageRequest(NamedTuple):
    """`path` are the variable pieces of the path, `query` what follows it, of several fields of one name the last.

    `said` is all that follows it, in order. `chose`: the reader chose the language.
    """

    address: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    said: tuple[tuple[str, str], ...]
    lang: Language
    chose: bool

    @classmethod
    def of(cls, request: Request) -> Self:
        """The request of a client."""
        lang = chosen_language(request.query_params, request.cookies, request.headers.get("accept-language", ""))
        chose = request.query_params.get("lang") == lang
        query = request.query_params
        said = tuple(query.multi_items())
        return cls(request.url.path, dict(request.path_params), dict(query), said, lang, chose)

    def every(self, name: str) -> tuple[str, ...]:
        """All fields of that name, in order, but for empty ones."""
        return tuple(value for one, value in self.said if one == name and value.strip())

    def html(self, template: str, here: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page in the reader's language; a language that was chosen is kept in a cookie."""
        other = _OTHER[self.lang]
        query = [*((name, value) for name, value in self.said if name != "lang"), ("lang", other)]
        text = rendered(
            template,
            lang=self.lang,
            other_lang=other,
            other_language_url=f"{self.address}?{urlencode(query)}",
            labels=LABELS[self.lang],
            here=here,
            **values,
        )
        response = HTMLResponse(text, status, headers={"Vary": "Accept-Language, Cookie", "Cache-Control": "no-store"})
        if self.chose:
            response.set_cookie(COOKIE, self.lang, max_age=_YEAR, path="/", httponly=True, samesite="strict")
        return response


def number(name: str, fields: Mapping[str, str]) -> int | None:
    """A whole number from 1; None where the field is empty.

    Raises:
        PageNotFound: it is something else.
    """
    said = fields.get(name, "")
    if not said:
        return None
    if not _NUMBER.fullmatch(said) or not (value := int(said)):
        raise PageNotFound(f"{name}: this is no number from 1")
    return value
