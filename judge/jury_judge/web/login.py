"""The page where a person hands over the token once; a cookie that no script can read stands for it afterwards."""

import hmac
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from jury_judge.web.pages.asked import Asked
from jury_judge.web.walls import COOKIE, LOGIN, cookie_of

_WEEK = 7 * 24 * 3600


def login_route(token: str) -> Route:
    """`/login`, for a server that wants `token`."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            return _page(request)
        body = await request.body()
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
            return _page(request, 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            COOKIE,
            cookie_of(token),
            max_age=_WEEK,
            path="/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    return Route(LOGIN, login, methods=["GET", "POST"])


def _page(request: Request, status: int = 200) -> HTMLResponse:
    return Asked.of(request).html("login.html", "login", status, wrong=status != 200, login=LOGIN)  # noqa: PLR2004  (OK)
