"""Calls end as soon as the head of their cluster is gone, and not before."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jury_actors import (
    CheckedNodes,
    ClusterLost,
    ClusterNotStarted,
    ClusterOpen,
    ClusterRefused,
    ClusterUnreachable,
    FolderNotPrivate,
    HeadWatch,
    NodesNotReady,
    RuntimeConfig,
    private_folder,
    ray_folder,
    token_for,
    unless_ended,
)
from jury_store import EventStore
from support.each_row import each_row
from support.ray_head import ray_head
from support.runtime_harness import TWO_SEATS, Run


class Service:
    """Answers a call when the test says so; `waiting` while a call is open."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.called = asyncio.Event()
        self.waiting = False

    async def call(self) -> str:
        self.waiting = True
        self.called.set()
        try:
            return await asyncio.shield(self.answer)
        finally:
            self.waiting = False


class Watched:
    """Calls of a service in a cluster whose head is watched."""

    def __init__(self, head: asyncio.Server, patience: float) -> None:
        host, port = head.sockets[0].getsockname()
        self.service = Service()
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.watch = HeadWatch(f"{host}:{port}", self._ended, patience=patience, every=0.001)

    async def call(self) -> str:
        return await unless_ended(self._ended, self.service.call())

    async def begin(self) -> "asyncio.Task[str]":
        calling = asyncio.create_task(self.call())
        await self.service.called.wait()
        return calling


@pytest.fixture
async def head() -> AsyncIterator[asyncio.Server]:
    """Listens as the head of a cluster does."""
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        yield server


@asynccontextmanager
async def watched(head: asyncio.Server, patience: float = 0.05) -> AsyncIterator[Watched]:
    cluster = Watched(head, patience)
    yield cluster
    await cluster.watch.close()


async def test_a_call_that_waits_ends_when_the_head_is_gone(head: asyncio.Server) -> None:
    async with watched(head) as cluster:
        calling = await cluster.begin()
        head.close()
        with pytest.raises(ClusterLost, match=r"its head at 127\.0\.0\.1:\d+ is gone.*call the same run again"):
            await calling
        with pytest.raises(ClusterLost):
            await cluster.call()

        assert cluster.watch.gone.done()
        await asyncio.sleep(0)
        assert not cluster.service.waiting


async def test_while_the_head_listens_calls_are_answered(head: asyncio.Server) -> None:
    async with watched(head) as cluster:
        calling = await cluster.begin()
        cluster.service.answer.set_result("answer")

        assert "answer" == await calling
        assert not cluster.watch.gone.done()
    assert not cluster.watch.gone.done()


async def test_a_head_that_comes_back_in_time_was_never_gone(head: asyncio.Server) -> None:
    async with watched(head, patience=60.0) as cluster:
        address = head.sockets[0].getsockname()
        head.close()
        calling = await cluster.begin()
        seen = asyncio.Event()

        def come(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()
            seen.set()

        async with await asyncio.start_server(come, *address):
            await seen.wait()
            cluster.service.answer.set_result("answer")

            assert "answer" == await calling


async def test_a_call_that_is_cancelled_is_cancelled_at_the_service(head: asyncio.Server) -> None:
    async with watched(head) as cluster:
        calling = await cluster.begin()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await asyncio.sleep(0)

        assert not cluster.service.waiting


LONG = "t" * 1200


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and an environment, without a token."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_an_open_cluster_is_refused_with_the_risk() -> None:
    with ray_head(None) as address, pytest.raises(ClusterOpen) as raised:
        token_for(address)

    assert f"the Ray cluster at {address} requires no token: anyone who reaches its ports can run code" in str(
        raised.value
    )
    assert "--ray-open-cluster" in str(raised.value)


def test_an_open_cluster_is_joined_without_a_token_where_that_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "of another cluster")
    with ray_head(None) as address:
        assert token_for(address, open_cluster=True) is None


@each_row("place", ["environment", "file", "home"])
@each_row("open_cluster", [False, True])
@each_row("token", ["right", LONG])
def test_a_token_is_taken_from_the_environment_a_file_or_the_home(
    home: Path, monkeypatch: pytest.MonkeyPatch, place: str, token: str, *, open_cluster: bool
) -> None:
    with monkeypatch.context() as patched, ray_head(token) as address:
        if place == "environment":
            patched.setenv("RAY_AUTH_TOKEN", token)
        elif place == "file":
            (home / "mine").write_text(f"{token}\n")
            patched.setenv("RAY_AUTH_TOKEN_PATH", str(home / "mine"))
        else:
            (home / ".ray").mkdir(exist_ok=True)
            (home / ".ray" / "auth_token").write_text(token)

        assert token == token_for(address, open_cluster=open_cluster)


def test_a_token_that_is_not_set_or_whose_file_is_not_there_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ray_head("right") as address:
        with pytest.raises(ClusterRefused, match=r"none is set: put it into RAY_AUTH_TOKEN"):
            token_for(address)
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(home / "gone"))
        with pytest.raises(ClusterRefused, match="gone cannot be read: there is no such"):
            token_for(address)


def test_another_token_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "wrong-token")
    with ray_head("right") as address, pytest.raises(ClusterRefused, match="does not accept the token") as raised:
        token_for(address)

    assert "wrong-token" not in str(raised.value)


def test_a_server_that_does_not_know_the_call_is_not_taken_for_a_closed_cluster() -> None:
    with (
        ray_head("right", status=b"12") as address,
        pytest.raises(ClusterUnreachable, match="another server than the head of a Ray cluster"),
    ):
        token_for(address)


pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_cluster")]

KEYLESS = {**TWO_SEATS, "seats": [{"model": "openai/x", "juror_id": "a", "fallbacks": []}]}


@pytest.fixture
def said() -> list[str]:
    return []


def config(reader: EventStore, url: str, seats: dict[str, object], *, shared: bool = True) -> RuntimeConfig:
    return Run(reader, debates=1, **seats).plan(url=url)._replace(shared_cluster=shared)


@pytest.mark.full
def test_a_node_that_joins_without_what_jurors_need_is_named_and_not_used(
    reader: EventStore, sqlite_url: str, said: list[str]
) -> None:
    nodes = CheckedNodes(config(reader, sqlite_url, KEYLESS), said.append)

    assert ({}, {}) == (nodes.cpus(), nodes.cpus())
    [line] = said
    assert line.startswith("the node 127.0.0.1 (")
    assert "is not used: " in line
    assert "set OPENAI_API_KEY" in line
    with pytest.raises(NodesNotReady, match="set OPENAI_API_KEY"):
        nodes.check()


def test_a_node_that_can_run_jurors_is_used(
    reader: EventStore, sqlite_url: str, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, joined = (CheckedNodes(config(reader, sqlite_url, TWO_SEATS), said.append) for _ in range(2))
    checked.check()

    [(node, cpus)] = joined.cpus().items()
    assert cpus >= 2
    assert [] == said
    monkeypatch.setattr("jury_actors.ray_nodes.inspect_nodes", lambda *_: pytest.fail("it was looked at before"))
    assert {node: cpus} == checked.cpus() == joined.cpus()


@pytest.mark.full
def test_the_node_of_a_local_cluster_is_not_looked_at(
    reader: EventStore, sqlite_url: str, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_actors.ray_nodes.inspect_nodes", lambda *_: pytest.fail("it is this machine"))
    nodes = CheckedNodes(config(reader, sqlite_url, KEYLESS, shared=False), said.append)
    nodes.check()

    assert 1 == len(nodes.cpus())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the folder is to be."""
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    return tmp_path / f"jury-{os.getuid()}"


def test_it_is_made_for_its_owner_alone_and_found_again(place: Path) -> None:
    before = os.umask(0)
    try:
        made = private_folder()
    finally:
        os.umask(before)

    assert place == made == private_folder()
    assert made.stat().st_mode & 0o777 == 0o700


def test_one_that_others_may_enter_is_refused(place: Path) -> None:
    place.mkdir()
    place.chmod(0o755)
    with pytest.raises(FolderNotPrivate, match="RAY_TMPDIR"):
        private_folder()


def test_a_symbolic_link_is_refused(place: Path) -> None:
    elsewhere = place.with_name("elsewhere")
    elsewhere.mkdir(mode=0o700)
    place.symlink_to(elsewhere)
    with pytest.raises(FolderNotPrivate):
        private_folder()


def test_a_folder_of_another_user_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    place.rename(place.with_name(f"jury-{mine + 1}"))
    with pytest.raises(FolderNotPrivate):
        private_folder()


@pytest.mark.parametrize("variable", ["RAY_TMPDIR", "TMPDIR"])
def test_a_folder_whose_path_is_too_long_for_rays_sockets_is_named(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 46)
    long.mkdir()
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    monkeypatch.setenv(variable, str(long))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(ClusterNotStarted, match=rf"{long}/jury-\d+/ray \({variable}\).*set RAY_TMPDIR to a shorter"):
        ray_folder()
