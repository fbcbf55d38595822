"""What all tests share: the environment, random examples, empty stores, one PostgreSQL server and one Ray cluster."""

import support.group_of_tests  # noqa: F401  (first: it says what is missing)

# isort: split
import gc
import os
import signal
import sqlite3
import ssl
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import psutil
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from sqlalchemy import Connection

from jury_migrations import upgrading
from jury_store import REVISION, EventStore, open_store
from support.postgres import TEMPLATE, PostgresServer, postgres_or_skip
from support.running_tests import running_tests
from support.started_processes import processes_of_a_test
from support.tiers import Tiers, mark_of_case, upper_folders_first, with_long

if TYPE_CHECKING:  # importing these takes longer than most tests
    from support.command_line import CommandLine
    from support.runtime_harness import Meter

pytest_plugins = ["support.refusals"]

gc.disable()  # until all tests are collected: what is imported stays

# Tests start hundreds of processes: where bytecode is not kept, each of them compiles all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the tests in the background has SIGINT ignored, and commands that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("quick", derandomize=True, database=None, max_examples=30, **_QUIET)
settings.register_profile("exploring", max_examples=1000, print_blob=True, **_QUIET)

RAY_CLUSTER, POSTGRES = "ray_cluster", "postgres"
TIERS = "tiers"
TOGETHER = {"analysis", "integrations", "providers"}
"""Folders whose tests import what takes longer than most of them: in the default tier one worker imports it."""
_SLOW = ("ray", "kill")


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: tests wait a part of their time for processes that they started."""
    return (psutil.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """`-m long` explores with new random examples; every other run repeats the same few."""
    upper_folders_first(config)
    settings.load_profile("exploring" if with_long(config) else "quick")
    config.pluginmanager.register(running_tests(), "running tests")
    config.pluginmanager.register(Tiers(config), TIERS)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Tests that share a cluster, server or fixture of their module run on one worker. What takes long begins first.

    The longer forms run where `-m` names them, and the property tests are among them. A wrapper, because xdist reads
    the groups in its own implementation of this hook, which is called before those of conftest files.
    """
    _arrange(config, items)
    yield
    grouped = [item for item in items if item.get_closest_marker("xdist_group")]
    if hasattr(config, "workerinput") and not all("@" in item.nodeid for item in grouped):
        raise pytest.UsageError("this pytest-xdist does not write the groups of tests where this pytest reads them")


def pytest_collection_finish() -> None:
    """Tests stay until the end: no collection of cycles need look at them."""
    gc.enable()
    gc.freeze()


def _arrange(config: pytest.Config, items: list[pytest.Item]) -> None:
    long = with_long(config)
    chains: dict[str, list[pytest.Item]] = {RAY_CLUSTER: []}
    alone = []
    for item in items:
        mark_of_case(item)
        if (group := _group(item)) is None:
            alone.append(item)
        else:
            chains.setdefault(group, []).append(item)
            item.add_marker(pytest.mark.xdist_group(group))
        if long and is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.timeout(3600))
    alone.sort(key=lambda item: not any(map(item.get_closest_marker, _SLOW)))
    items[:] = [*chain.from_iterable(chains.values()), *alone]
    tiers: Tiers = config.pluginmanager.get_plugin(TIERS)
    tiers.choose(config, items)


def _group(item: pytest.Item) -> str | None:
    if not isinstance(item, pytest.Function):
        return None
    if (mark := item.get_closest_marker("xdist_group")) is not None:
        return str(mark.args[0])
    fixtures = item._fixtureinfo.name2fixturedefs
    if RAY_CLUSTER in fixtures:
        return RAY_CLUSTER
    place = item.path.relative_to(item.config.rootpath)
    if item.get_closest_marker("full") is None:
        if POSTGRES in fixtures or "postgres" in item.name:
            return POSTGRES  # starting a server takes longer than most of its tests; the many others have one a worker
        if place.parts[1] in TOGETHER:
            return place.parts[1]
    shares = any(found[-1].scope == "module" for found in fixtures.values())
    return str(place) if shares else None


@pytest.fixture(autouse=True)
def _no_command_outlives_its_test() -> Iterator[None]:
    with processes_of_a_test():
        yield


@pytest.fixture(autouse=True)
def _shared_cluster_survives() -> Iterator[None]:
    """A test that ends the cluster of its worker fails itself, in place of those that come after it."""
    ran = _ray_runs()
    yield
    assert _ray_runs() or not ran, "this test ended the Ray cluster that all tests of this worker share"


def _ray_runs() -> bool:
    return (ray := sys.modules.get("ray")) is not None and ray.is_initialized()


@pytest.fixture(scope="session")
def _migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with an empty store."""
    path = tmp_path_factory.mktemp("template") / "empty.db"
    upgrading.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session", autouse=True)
def _new_stores_are_copies(_migrated: Path) -> Iterator[None]:
    """A new SQLite store is copied in place of migrated, which takes a hundredth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        migrate = upgrading._upgrade

        def copy_or_migrate(connection: Connection, name: str) -> str:
            to = connection.connection.driver_connection
            if not isinstance(to, sqlite3.Connection) or to.execute("SELECT 1 FROM sqlite_schema").fetchone():
                return migrate(connection, name)
            with sqlite3.connect(_migrated) as template:
                template.backup(to)
            template.close()
            return REVISION

        patch.setattr(upgrading, "_upgrade", copy_or_migrate)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_certificate_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each client of a provider loads every authority that this machine trusts, and no test needs more than one."""
    path = tmp_path_factory.mktemp("authorities") / "one.pem"
    with pytest.MonkeyPatch.context() as patch:
        for certificate in ssl.create_default_context().get_ca_certs(binary_form=True)[:1]:
            path.write_text(ssl.DER_cert_to_PEM_cert(certificate), "ascii")
            patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for all tests that do not stop it; its database `TEMPLATE` holds an empty store with its roles."""
    with postgres_or_skip() as server:
        server.execute(f"CREATE DATABASE {TEMPLATE}")
        upgrading.upgrade(server.url(TEMPLATE))
        server.set_roles(TEMPLATE, "template").check_returncode()
        yield server


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """An empty store on SQLite."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrading.upgrade(url)
    return url


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """An empty store on PostgreSQL."""
    name = postgres.create_database(TEMPLATE)
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty store on each database."""
    found: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return found


@pytest.fixture
def jury(tmp_path: Path) -> "CommandLine":
    """The command in a new folder."""
    from support.command_line import CommandLine

    return CommandLine(tmp_path)


@pytest.fixture
def meter() -> "Iterator[Meter]":
    """Counts the calls of every runtime of the test."""
    from support.runtime_harness import Meter

    found = Meter()
    with patch("jury_actors.runtime.provider_factory", found.factory):
        yield found


@pytest.fixture
def new_sqlite(tmp_path: Path) -> Iterator[Callable[[], EventStore]]:
    """Makes fresh SQLite stores whose `close` does nothing; they are closed when the test ends."""
    closes: list[Callable[[], None]] = []

    def make() -> EventStore:
        url = f"sqlite:///{tmp_path / f'{len(closes)}.db'}"
        upgrading.upgrade(url)
        store = open_store(url, write=True)
        closes.append(store.close)
        store.close = lambda: None  # type: ignore[method-assign]
        return store

    yield make
    for close in closes:
        close()


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """A local cluster for all tests that do not end it; its workers can import what tests bring along."""
    from jury_actors.ray_runtime import start_ray, stop_ray

    before = os.environ.get("PYTHONPATH")
    tests = str(Path(__file__).parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", tests if before is None else f"{tests}{os.pathsep}{before}")
        start_ray()
        yield
        stop_ray()


@pytest.fixture
def cluster_address(ray_cluster: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the cluster, whose token processes started by the test find in their environment."""
    import ray

    [raylet] = [process for process in psutil.Process().children() if process.name() == "raylet"]
    monkeypatch.setenv("RAY_AUTH_TOKEN", raylet.environ()["RAY_AUTH_TOKEN"])
    address: str = ray.get_runtime_context().gcs_address
    return address
