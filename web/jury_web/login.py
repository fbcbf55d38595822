"""The login page exchanges the token for an HttpOnly cookie; a reviewer sees only what is theirs to see."""

import asyncio
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jury_events.ids import DEBATE_ID
from jury_web.credentials import WITHIN, Credentials, TokenAttempts, set_visitor, visitor_of
from jury_web.middleware import COOKIE, LOGIN, STATIC, Rejection, send_rejection, wants_page
from jury_web.pages.page_request import AFTER_YOUR_VERDICT, PageRequest, problem_page
from jury_web.root_path import rooted

_WEEK = 7 * 24 * 3600
_FORBIDDEN = 403
_TOO_MANY_REQUESTS = 429


def login_route(credentials: Credentials, attempts: TokenAttempts) -> Route:
    """`/login` for a server with tokens; failed ones are counted in `attempts`."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            return _page(request)
        body = await request.body()
        sent = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        sent_token = sent.encode("utf-8", "replace")
        if sent_token and attempts.too_many(request.scope, sent_token):
            return _page(request, _TOO_MANY_REQUESTS)
        visitor = credentials.by_token(sent_token)
        if visitor is None:
            if sent_token:
                attempts.add(request.scope, sent_token)
            return _page(request, _FORBIDDEN)
        response = RedirectResponse("/" if visitor.reviewer is None else "/reviews", 303)
        response.set_cookie(
            COOKIE,
            visitor.cookie,
            max_age=_WEEK,
            path=rooted("/"),
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response

    return Route(LOGIN, login, methods=["GET", "POST"])


def _page(request: Request, status: int = 200) -> HTMLResponse:
    page = PageRequest.of(request).html(
        "login.html", "login", status, wrong=status == _FORBIDDEN, too_many=status == _TOO_MANY_REQUESTS, login=LOGIN
    )
    if status == _TOO_MANY_REQUESTS:
        page.headers["Retry-After"] = str(int(WITHIN))
    return page


_READ = re.compile(r"/reviews(/.*)?|/reviewers|/api/reviews|/openapi\.json|/schemas/.*|/api/health")
_WRITE = re.compile(rf"/reviews/{DEBATE_ID}|/api/debates/{DEBATE_ID}/reviews")
_DEBATE = re.compile(rf"/(?:api/)?debates/({DEBATE_ID})(?:/.*)?")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_HOME = Rejection(303, "a reviewer begins at the reviews", "open /reviews", (("Location", "/reviews"),))
_NO_WORDS = Rejection(
    403,
    "a reviewer sees what the jury said of a debate only after the own verdict on it",
    "review the debate at /reviews first; the server's token, or a server without reviewers, shows it to others",
)
_NO_WRITING = Rejection(
    403, "a reviewer records reviews and nothing else", "use the server's token, or a server without reviewers"
)

HasReviewed = Callable[[str, str], bool]
"""Whether a reviewer (first) has given a verdict on a debate (second) that stands."""


class ReviewerMiddleware:
    """Rejects what a reviewer may not open; the middleware before has found who asks.

    Args:
        blind: whether the jury's words are shown only after the reviewer's verdict.
    """

    def __init__(self, app: ASGIApp, *, blind: bool, has_reviewed: HasReviewed) -> None:
        self._app = app
        self._blind = blind
        self._has_reviewed = has_reviewed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            rejection = await self._rejection(scope)
            visitor = visitor_of(scope)
            set_visitor(scope, visitor._replace(restricted=self._blind and visitor.reviewer is not None))
            if rejection is _NO_WORDS and wants_page(scope):
                debate = _DEBATE.fullmatch(scope["path"])
                debate_id = None if debate is None else debate.group(1)
                page = problem_page(Request(scope), rejection.status, AFTER_YOUR_VERDICT, debate_id)
                await page(scope, receive, send)
                return
            if rejection is not None:
                await send_rejection(rejection, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _rejection(self, scope: Scope) -> Rejection | None:
        reviewer = visitor_of(scope).reviewer
        path: str = scope["path"]
        if reviewer is None or path == LOGIN or path.startswith(STATIC):
            return None
        if scope["type"] == "http" and scope["method"] not in _SAFE:
            return None if _WRITE.fullmatch(path) else _NO_WRITING
        if path == "/" and self._blind:
            return _HOME
        if not self._blind or _READ.fullmatch(path):
            return None
        debate = _DEBATE.fullmatch(path)
        if debate is None:
            return _NO_WORDS
        done = await asyncio.to_thread(self._has_reviewed, reviewer, debate.group(1))
        return None if done else _NO_WORDS
