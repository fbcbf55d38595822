"""The login page: exchanges the token for an HttpOnly cookie."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from jury_web.credentials import WITHIN, Credentials, TokenAttempts
from jury_web.middleware import COOKIE, LOGIN
from jury_web.pages.page_request import PageRequest
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
