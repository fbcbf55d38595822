"""The page where a person hands over the token once; a cookie that no script can read stands for it afterwards."""

import hmac
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from jury_judge.web.middleware import COOKIE, LOGIN, cookie_of
from jury_judge.web.pages.page_request import PageRequest
from jury_judge.web.token_attempts import WITHIN, TokenAttempts

_WEEK = 7 * 24 * 3600
_WRONG = 403
_TOO_MANY = 429


def login_route(token: str, tries: TokenAttempts) -> Route:
    """`/login`, for a server that wants `token`; wrong ones are counted in `tries`."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            return _page(request)
        body = await request.body()
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        shown = given.encode("utf-8", "replace")
        if shown and tries.too_many(request.scope, shown):
            return _page(request, _TOO_MANY)
        if not hmac.compare_digest(shown, token.encode()):
            if shown:
                tries.add(request.scope, shown)
            return _page(request, _WRONG)
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
    page = PageRequest.of(request).html(
        "login.html", "login", status, wrong=status == _WRONG, too_many=status == _TOO_MANY, login=LOGIN
    )
    if status == _TOO_MANY:
        page.headers["Retry-After"] = str(int(WITHIN))
    return page
