"""What a reviewer may open: the review pages, and what the jury said only after the own verdict.

With `blind` off they read everything, as with the server's token; they write reviews alone.
"""

import asyncio
import re
from collections.abc import Callable

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from jury_events.ids import DEBATE_ID
from jury_web.credentials import set_visitor, visitor_of
from jury_web.middleware import LOGIN, STATIC, Rejection, send_rejection, wants_page
from jury_web.pages.page_request import AFTER_YOUR_VERDICT, problem_page

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
