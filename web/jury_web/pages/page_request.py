"""A page as an answer: its request, its language, its template, and problems as pages."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, Self, get_args
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse

from jury_events.errors import DebateNotFound, InputError, JuryError, install_line
from jury_events.ids import is_debate_id, unescape
from jury_events.panel import Language
from jury_events.text import moment, points_text
from jury_events.verdict import Verdict
from jury_judge import AnalysisError, OnlySimulated
from jury_judge.errors import ExtraMissing, RunTooLarge, TooManyReports
from jury_views.case_view import case_facts, omissions_line
from jury_views.evaluation_models import parts_by_seat, review_choices
from jury_views.judgment_lines import (
    acceptance_line,
    cap_lines,
    exception_lines,
    not_seated_line,
    reached_line,
    reading_lines,
    reasoning_line,
)
from jury_views.number_formats import duration, probabilities_line, rate
from jury_views.reasons import went_wrong_line
from jury_views.report_sections import FigureNotes
from jury_views.templating import templates
from jury_views.terms import term
from jury_web.credentials import Visitor, visitor_of
from jury_web.middleware import rooted, rooted_html
from jury_web.pages.page_labels import LABELS

COOKIE = "jury_lang"
LANGUAGES: tuple[Language, ...] = get_args(Language)


def chosen_language(query: Mapping[str, str], cookies: Mapping[str, str], accept: str) -> Language:
    """The language of a page; English by default.

    Args:
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


_PACKAGE = "jury_web"
_BEST_FIRST = tuple(one.value for one in Verdict)


@cache
def environment() -> Environment:
    """The templates of this package, compiled once per process."""
    # The style sheet is a template too, for the exported file, which includes it.
    made = templates(PackageLoader(_PACKAGE, "templates"), PackageLoader(_PACKAGE, "static"))
    made.filters.update(
        moment=moment,
        case_facts=case_facts,
        omissions_line=omissions_line,
        term=term,
        reached=reached_line,
        acceptance=acceptance_line,
        cap_lines=cap_lines,
        exception_lines=exception_lines,
        reasoning_line=reasoning_line,
        not_seated_line=not_seated_line,
        went_wrong=went_wrong_line,
        points_text=points_text,
        reading_lines=reading_lines,
        parts_by_seat=parts_by_seat,
        probabilities_line=probabilities_line,
        unescaped=unescape,
    )
    made.filters.update(duration=duration, rate=rate)
    made.globals.update(verdicts=_BEST_FIRST, review_choices=review_choices)
    return made


def rendered(template: str, **values: Any) -> str:
    return rooted_html(environment().get_template(template).render(values, footnotes=FigureNotes()))


def rendered_stream(template: str, **values: Any) -> Iterator[str]:
    """One page in chunks, where it may be long."""
    stream = environment().get_template(template).stream(values, footnotes=FigureNotes())
    stream.enable_buffering(64)
    return iter(stream)


_NUMBER = re.compile(r"[0-9]{1,18}")
_YEAR = 365 * 24 * 3600
_OTHER: dict[Language, Language] = {"en": "ja", "ja": "en"}


class PageNotFound(InputError):
    """The address names nothing that is stored, or has an invalid parameter."""


class PageRequest(NamedTuple):
    """`path` are the path parameters, `query` the query parameters: of several with one name, the last.

    `all_parameters` are all of the query, in order. `chose`: the query chooses the language.
    `visitor` is who asks.
    """

    address: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    all_parameters: tuple[tuple[str, str], ...]
    lang: Language
    chose: bool
    visitor: Visitor = Visitor()

    @classmethod
    def of(cls, request: Request) -> Self:
        lang = chosen_language(request.query_params, request.cookies, request.headers.get("accept-language", ""))
        chose = request.query_params.get("lang") == lang
        query = request.query_params
        parameters = tuple(query.multi_items())
        visitor = visitor_of(request.scope)
        return cls(request.url.path, dict(request.path_params), dict(query), parameters, lang, chose, visitor)

    @property
    def debate_id(self) -> str:
        debate_id = self.path["debate_id"]
        if not is_debate_id(debate_id):
            raise PageNotFound("this is not the id of a debate; the list shows the debates")
        return debate_id

    def every(self, name: str) -> tuple[str, ...]:
        """All values of that name that are not empty, in order."""
        return tuple(value for one, value in self.all_parameters if one == name and value.strip())

    def html(self, template: str, here: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page in the reader's language; a chosen language is stored in a cookie."""
        other = _OTHER[self.lang]
        query = [*((name, value) for name, value in self.all_parameters if name != "lang"), ("lang", other)]
        text = rendered(
            template,
            lang=self.lang,
            other_lang=other,
            other_language_url=f"{self.address}?{urlencode(query)}",
            labels=LABELS[self.lang],
            here=here,
            reviewer=self.visitor.reviewer,
            visitor=self.visitor,
            **values,
        )
        response = HTMLResponse(text, status, headers={"Vary": "Accept-Language, Cookie", "Cache-Control": "no-store"})
        if self.chose:
            response.set_cookie(COOKIE, self.lang, max_age=_YEAR, path=rooted("/"), httponly=True, samesite="strict")
        return response


def number(name: str, fields: Mapping[str, str]) -> int | None:
    text = fields.get(name, "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or not (value := int(text)):
        raise PageNotFound(f"{name} must be an integer of at least 1")
    return value


NO_PAGE = "no_page"
AFTER_YOUR_VERDICT = "after_your_verdict"
"""Labels of what is said."""


def problem_page(request: Request, status: int, label: str, debate_id: str | None = None) -> HTMLResponse:
    """The page.

    Args:
        debate_id: the debate to review first, if one was asked for.
    """
    return PageRequest.of(request).html("problem.html", "", status, said=label, debate_id=debate_id)


class RefusedReport(NamedTuple):
    """Why a report is not shown: a name in the label catalogue, a command that helps, the message of the error."""

    label: str
    command: str = ""
    message: str = ""
    simulated: bool = False


REFUSALS = (ExtraMissing, AnalysisError, DebateNotFound, RunTooLarge, TooManyReports)


def refused_report(error: JuryError) -> RefusedReport:
    if isinstance(error, ExtraMissing):
        return RefusedReport("stats_extra", command=install_line("stats"))
    if isinstance(error, OnlySimulated):
        return RefusedReport("simulated", simulated=True)
    if isinstance(error, DebateNotFound):
        return RefusedReport("stats_no_votes")
    if isinstance(error, TooManyReports):
        return RefusedReport("stats_busy")
    return RefusedReport("stats_impossible", message=str(error))


_SIZE = 64 * 1024


def chunks(content: bytes) -> Iterator[bytes]:
    """Pieces of at most 64 KiB, so that a response never copies megabytes at once."""
    view = memoryview(content)
    for start in range(0, len(view), _SIZE):
        yield bytes(view[start : start + _SIZE])


def content_response(content: bytes, media_type: str | None = None, name: str | None = None) -> StreamingResponse:
    """Stored bytes, as text where they are of no other type; `name`: of the file as which they are saved."""
    headers = {"Content-Length": str(len(content)), "X-Content-Type-Options": "nosniff"}
    if name is not None:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return StreamingResponse(chunks(content), media_type=media_type or "text/plain; charset=utf-8", headers=headers)
