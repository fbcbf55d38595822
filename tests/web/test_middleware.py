"""Each middleware rejects one kind of attack; without it, its test fails."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from jury_web import COOKIE, AccessPolicy, TokenAttempts, cookie_of, login_route, middleware, with_middleware

NAME = "127.0.0.1:8765"
TOKEN = "a token that is not guessed"


async def _echo(request: Request) -> Response:
    return JSONResponse({"got": len(await request.body()), "path": request.url.path})


async def _greet(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("hello")
    await socket.close()


async def _kept(_request: Request) -> Response:
    return PlainTextResponse("kept", headers={"ETag": '"1"'})


def client(
    policy: AccessPolicy = AccessPolicy(frozenset({NAME, "localhost:8765"})),
    attempts: TokenAttempts | None = None,
    **kwargs: Any,
) -> TestClient:
    attempts = attempts or TokenAttempts()
    routes: list[Any] = [
        Route("/kept", _kept),
        Route("/{rest:path}", _echo, methods=["GET", "POST", "PUT", "DELETE"]),
        WebSocketRoute("/ws", _greet),
    ]
    if (credentials := policy.credentials) is not None:
        routes.insert(0, login_route(credentials, attempts))
    app = Starlette(routes=routes)
    return TestClient(
        with_middleware(app, policy, attempts), base_url=f"http://{NAME}", follow_redirects=False, **kwargs
    )


# Headers


SECURITY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def test_every_response_has_the_security_headers() -> None:
    for path in ("/", "/kept"):
        headers = client().get(path).headers

        assert SECURITY.items() <= dict(headers).items()
        assert not [name for name in headers if name.startswith("access-control-")]


def test_a_rejection_has_them_too_with_a_remedy() -> None:
    answer = client().get("/", headers={"host": "evil.example"})

    assert "nosniff" == answer.headers["x-content-type-options"]
    assert {"error", "remedy"} == answer.json().keys()


def test_caches_may_keep_only_responses_with_an_etag() -> None:
    assert "no-store" == client().get("/").headers["cache-control"]
    assert "private, no-cache" == client().get("/kept").headers["cache-control"]


# Hosts, origins, tokens, bodies: a request, and the status that it gets

HERE = f"http://{NAME}"
HOSTS = {200: (NAME, "localhost:8765", "LOCALHOST:8765")} | {
    421: (
        *("evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:8765.evil.example", "localhost", ""),
        "a@127.0.0.1:8765",
    )
}
FOREIGN = ("null", "http://evil.example", "http://127.0.0.1", f"{HERE}.evil.example", "http://localhost:8765", "")
TYPES = {
    200: ("application/json", "Application/JSON; charset=utf-8"),
    415: ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""),
}
REQUESTS: list[tuple[int, str, dict[str, Any]]] = [
    *((status, "GET", {"headers": {"host": host}}) for status, hosts in HOSTS.items() for host in hosts),
    *((403, method, {"headers": {"origin": one}}) for one in FOREIGN for method in ("POST", "PUT", "DELETE", "GET")),
    *((200, "POST", {"headers": {"origin": one}}) for one in (HERE, f"https://{NAME}")),
    (200, "POST", {}),
    *((403, "POST", {"headers": {"sec-fetch-site": one}}) for one in ("cross-site", "same-site")),
    *((200, "GET", {"headers": {"sec-fetch-site": one}}) for one in ("cross-site", "same-site")),
    *(
        (status, "POST", {"content": b"{}", "headers": {"content-type": kind}})
        for status, kinds in TYPES.items()
        for kind in kinds
    ),
]


def test_hosts_origins_and_bodies_that_are_not_json_are_rejected_before_routing(subtests: pytest.Subtests) -> None:
    for status, method, request in REQUESTS:
        with subtests.test(method, **request):
            assert status == client().request(method, "/", **request).status_code


def test_a_body_may_be_as_large_as_allowed() -> None:
    small = client(AccessPolicy(frozenset({NAME}), max_body=10))

    assert 10 == small.post("/", content=b"1234567890", headers={"content-type": "application/json"}).json()["got"]


SOCKETS: tuple[tuple[int, str, dict[str, str]], ...] = (
    (421, "/ws", {"host": "evil"}),
    (403, "/ws", {"host": NAME, "origin": "null"}),
    (403, "/ws", {"host": NAME, "origin": "http://evil.example"}),
    (401, "/ws", {"host": NAME}),
    (401, "/static/ws", {"host": NAME}),
)


def test_what_opens_no_page_opens_no_websocket() -> None:
    for status, path, headers in SOCKETS:
        opened = client(AccessPolicy(frozenset({NAME}), token=TOKEN if status == 401 else None))
        with pytest.raises(WebSocketDenialResponse) as refused, opened.websocket_connect(path, headers=headers):
            pass

        assert status == refused.value.status_code


async def test_two_host_headers_are_rejected() -> None:
    status = await status_of([(b"host", NAME.encode()), (b"host", b"evil.example")])

    assert 421 == status


async def test_a_server_on_all_addresses_accepts_the_local_address_of_the_connection() -> None:
    policy = AccessPolicy(frozenset({NAME}), own_address=True)

    assert 200 == await status_of([(b"host", b"10.0.0.7:8765")], policy, server=("10.0.0.7", 8765))
    assert 200 == await status_of([(b"host", b"[fe80::1]:8765")], policy, server=("fe80::1", 8765))
    assert 421 == await status_of([(b"host", b"10.0.0.8:8765")], policy, server=("10.0.0.7", 8765))
    assert 421 == await status_of([(b"host", b"evil.example:8765")], policy, server=("10.0.0.7", 8765))


async def status_of(
    headers: list[tuple[bytes, bytes]],
    policy: AccessPolicy = AccessPolicy(frozenset({NAME})),
    *,
    server: tuple[str, int] = ("127.0.0.1", 8765),
    messages: list[Message] | None = None,
    method: str = "GET",
) -> int:
    """The status of a request with raw headers."""
    given = iter(messages or [{"type": "http.request", "body": b"", "more_body": False}])
    sent: list[Message] = []

    async def receive() -> Message:
        return next(given)

    async def send(message: Message) -> None:
        sent.append(message)

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    scope = {"type": "http", "method": method, "path": "/", "headers": headers, "server": server, "query_string": b""}
    await with_middleware(app, policy, TokenAttempts())(scope, receive, send)
    return int(sent[0]["status"])


def test_a_page_of_the_same_origin_opens_a_websocket() -> None:
    with client().websocket_connect("/ws", headers={"host": NAME, "origin": f"http://{NAME}"}) as socket:
        assert "hello" == socket.receive_text()


# Token


@pytest.fixture
def guarded() -> Iterator[TestClient]:
    with client(AccessPolicy(frozenset({NAME}), token=TOKEN)) as guarded:
        yield guarded


TOKENS: dict[int, tuple[dict[str, Any], ...]] = {
    401: (
        *({"authorization": one} for one in ("Bearer wrong", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x")),
        {"authorization": b"Bearer " + "日本".encode()},
        *({"cookie": one} for one in (f"{COOKIE}={TOKEN}", f"{COOKIE}=wrong", "\x01;;==;")),
        {"cookie": f"{COOKIE}={COOKIE}={cookie_of(TOKEN)}"},
        {},
    ),
    200: (
        {"authorization": f"Bearer {TOKEN}"},
        {"cookie": f"{COOKIE}={cookie_of(TOKEN)}"},
        {"cookie": f'other={{"a": 1}}; bare; a[b]=1; {COOKIE}={cookie_of(TOKEN)}'},
    ),
}


def test_only_the_token_opens_what_is_guarded(guarded: TestClient, subtests: pytest.Subtests) -> None:
    for status, given in TOKENS.items():
        for headers in given:
            with subtests.test(headers):
                answer = guarded.get("/api/debates", headers=headers)
                assert status == answer.status_code
                assert status == 200 or "Bearer" == answer.headers["www-authenticate"]
    paths = ("/static/style.css", "/static", "/staticx", "/x/static/")
    assert [200, 401, 401, 401] == [guarded.get(path).status_code for path in paths]


def test_the_login_takes_short_forms_of_its_own_page(guarded: TestClient) -> None:
    long = guarded.post("/login", data={"token": "x" * 5000})
    foreign = guarded.post("/login", data={"token": TOKEN}, headers={"origin": "http://evil.example"})

    assert (413, 403) == (long.status_code, foreign.status_code)


def test_a_browser_is_redirected_to_the_login_and_gets_an_httponly_cookie(guarded: TestClient) -> None:
    led = guarded.get("/debates/d", headers={"accept": "text/html,*/*"})
    form = guarded.get("/login")
    wrong = guarded.post("/login", data={"token": "wrong"})
    right = guarded.post("/login", data={"token": TOKEN})

    assert (303, "/login") == (led.status_code, led.headers["location"])
    assert (200, True) == (form.status_code, 'type="password"' in form.text)
    assert (403, False) == (wrong.status_code, "set-cookie" in wrong.headers)
    assert (303, "/") == (right.status_code, right.headers["location"])
    attributes = {part.strip().lower() for part in right.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict", "path=/"} <= attributes
    assert TOKEN not in right.headers["set-cookie"]
    assert 200 == guarded.get("/debates/d").status_code


# Token attempts


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counted(clock: Clock) -> Iterator[TestClient]:
    with client(AccessPolicy(frozenset({NAME}), token=TOKEN), TokenAttempts(clock)) as counted:
        yield counted


def bearer(client: TestClient, token: str) -> int:
    return client.get("/api/debates", headers={"authorization": f"Bearer {token}"}).status_code


def cookie(client: TestClient, token: str) -> int:
    return client.get("/api/debates", headers={"cookie": f"{COOKIE}={cookie_of(token)}"}).status_code


def form(client: TestClient, token: str) -> int:
    return client.post("/login", data={"token": token}).status_code


WAYS = {"bearer": (bearer, 401, 200), "cookie": (cookie, 401, 200), "form": (form, 403, 303)}


@pytest.mark.parametrize("tried", WAYS)
@pytest.mark.parametrize("then", WAYS)
def test_a_client_with_too_many_wrong_tokens_waits_a_minute(
    counted: TestClient, clock: Clock, tried: str, then: str
) -> None:
    show, wrong, _ = WAYS[tried]
    again, _, right = WAYS[then]

    assert [wrong] * 10 == [show(counted, f"wrong {number}") for number in range(10)]
    assert [429, 429] == [again(counted, "wrong 10"), again(counted, TOKEN)]
    clock.now += 60
    assert right == again(counted, TOKEN)


def test_the_rejection_of_too_many_tokens_has_retry_after(counted: TestClient) -> None:
    for number in range(10):
        form(counted, f"wrong {number}")
    page = counted.post("/login", data={"token": TOKEN}, headers={"accept-language": "en"})
    answer = counted.get("/api/debates", headers={"authorization": "Bearer x"})

    assert ("60", True) == (page.headers["retry-after"], "Too many wrong tokens from this address" in page.text)
    assert ("60", "wait a minute") == (answer.headers["retry-after"], answer.json()["remedy"])


def test_a_repeated_wrong_token_is_counted_once(counted: TestClient) -> None:
    assert [401] * 30 == [bearer(counted, "an old token of a program") for _ in range(30)]
    assert 200 == bearer(counted, TOKEN)


def test_requests_without_a_token_are_not_counted(counted: TestClient) -> None:
    assert {401} == {counted.get("/api/debates").status_code for _ in range(30)}
    assert {403} == {form(counted, "") for _ in range(30)}
    assert 200 == bearer(counted, TOKEN)


def test_attempts_are_counted_by_client() -> None:
    for one, another, same in (
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("a socket", "a socket", True),
    ):
        attempts = TokenAttempts()
        for number in range(10):
            attempts.add({"client": (one, 1)}, b"wrong %d" % number)

        assert same == attempts.too_many({"client": (another, 2)}, b"another")


# Bodies


@pytest.mark.parametrize("declared", ["11", "9" * 30])
async def test_a_body_with_a_too_large_content_length_is_rejected_unread(declared: str) -> None:
    headers = [(b"host", NAME.encode()), (b"content-length", declared.encode())]

    assert 413 == await status_of(headers, AccessPolicy(frozenset({NAME}), max_body=10), method="POST", messages=[{}])


async def test_a_chunked_body_that_is_too_large_is_rejected() -> None:
    pieces: list[Message] = [{"type": "http.request", "body": b"x" * 6, "more_body": True} for _ in range(99)]

    assert 413 == await status_of(
        [(b"host", NAME.encode())], AccessPolicy(frozenset({NAME}), max_body=10), method="POST", messages=pieces
    )


async def test_a_missing_body_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "_PIECE_SECONDS", 0.01)
    sent: list[Message] = []

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("the application was reached")

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", NAME.encode())], "query_string": b""}
    await with_middleware(app, AccessPolicy(frozenset({NAME})), TokenAttempts())(scope, never, send)

    assert 408 == sent[0]["status"]


async def test_a_client_that_disconnects_before_its_body_does_not_reach_the_application() -> None:
    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("the application was reached")

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def send(_message: Message) -> None:
        raise AssertionError("something was answered")

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", NAME.encode())], "query_string": b""}
    await with_middleware(app, AccessPolicy(frozenset({NAME})), TokenAttempts())(scope, gone, send)
