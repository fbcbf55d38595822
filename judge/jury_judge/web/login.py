"""The page where a person hands over the token once; a cookie that no script can read stands for it afterwards."""

import hmac
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from jury_judge.web.walls import COOKIE, LOGIN, cookie_of

_WEEK = 7 * 24 * 3600
_MOST = 4096
"""Bytes of the form."""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Jury Judge</title>
<main>
<h1>Jury Judge</h1>
{said}<form method="post" action="{login}">
<p><label>Token <span lang="ja">トークン</span>
<input type="password" name="token" autocomplete="current-password" required autofocus></label>
<p><button>Log in <span lang="ja">ログイン</span></button>
</form>
<p>jury serve printed the token when it started.
<p lang="ja">トークンは jury serve の起動時に表示されます。
</main>
</html>
"""
_WRONG = '<p role="alert">The token is wrong. <span lang="ja">トークンが違います。</span>\n'


def login_route(token: str) -> Route:
    """`/login`, for a server that wants `token`."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            return _page("")
        body = await request.body()
        given = parse_qs(body[:_MOST].decode("utf-8", "replace")).get("token", [""])[0].strip()
        if len(body) > _MOST or not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
            return _page(_WRONG, 403)
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


def _page(said: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(said=said, login=LOGIN), status)
