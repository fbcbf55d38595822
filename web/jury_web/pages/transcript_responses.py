"""The answers of the pages of transcripts, for readers and for reviewers."""

from starlette.responses import RedirectResponse, Response, StreamingResponse

from jury_events.debate_history import DebateHistory
from jury_web.chunks import chunks
from jury_web.pages.page_request import PageNotFound, PageRequest, number
from jury_web.pages.review_page import PREVIEW as REVIEWED
from jury_web.pages.text_previews import PREVIEW
from jury_web.pages.transcript_page import TranscriptReader, TranscriptRequest
from jury_web.pages.transcript_search import LONGEST


def transcript_response(reading: DebateHistory, request: PageRequest, *, review: bool = False) -> Response:
    """Items `from` to `to`, those that have `q` in them, or a redirection to the page with the item `item`.

    Raises:
        PageNotFound: there is no such transcript, or no such item, or a parameter is invalid.
        EventError: a stored body cannot be decoded.
    """
    query = request.query
    wanted = TranscriptRequest(
        scenario=_scenario(request),
        start=number("from", query) or 1,
        stop=number("to", query),
        words=query.get("q", "").strip()[:LONGEST],
        at=None if review else number("at", query),
        review=review,
    )
    reader = TranscriptReader(reading, wanted, REVIEWED if review else PREVIEW)
    item = number("item", query)
    if item is not None:
        return RedirectResponse(reader.address(item), 303)
    page = reader.page()
    return request.html(
        "transcript_page.html",
        "reviews" if review else "debates",
        page=page,
        exchanges=None,
        debate_at=page.debate,
        longest=LONGEST,
    )


def item_response(reading: DebateHistory, request: PageRequest) -> Response:
    """The text of an item as plain text.

    Raises:
        PageNotFound: there is no such item.
        EventError: a stored body cannot be decoded.
    """
    reader = TranscriptReader(reading, TranscriptRequest(_scenario(request)))
    content = reader.text(number("item", request.path) or 0).encode("utf-8", "backslashreplace")
    return StreamingResponse(
        chunks(content),
        media_type="text/plain; charset=utf-8",
        headers={"Content-Length": str(len(content)), "X-Content-Type-Options": "nosniff"},
    )


def _scenario(request: PageRequest) -> int:
    wanted = number("scenario", request.path)
    if wanted is None:
        raise PageNotFound("the address names no scenario")
    return wanted
