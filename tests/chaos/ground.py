"""What scenarios share: the models, a PostgreSQL server that may be killed, a small disk, a cluster of two nodes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from chaos.counted_models import SEATS, ServedCalls, counted_models
from jury_migrations import upgrade
from support.nodes import Nodes, ray_nodes
from support.postgres import TEMPLATE, PostgresServer, postgres_server

_DISK = "24m"

_PANEL = {
    "preset": "parallel-rounds",
    "seats": [{"model": model, "juror_id": seat, "fallbacks": []} for seat, model in SEATS.items()],
    # A timeout is an attempt of its own, and its call is not recorded by the model's server under that name.
    "settings": {"tries": 1, "timeout_seconds": 600},
    "discussion": {"max_rounds": 1, "threshold": 2.0},
    "final": {"method": "majority_vote", "quorum": 1},
    # With limits every call asks the limiter for a permit.
    "providers": {"openai": {"limits": {"*": {"in_flight": 64}}}},
}


class CannotStrike(Exception):
    """A fault cannot be made on this machine; says why."""


class Ground:
    """Everything is started when it is asked for first, and ends with `shared_ground`."""

    def __init__(self, folder: Path, models: ServedCalls, ends: ExitStack) -> None:
        self.folder = folder
        self.models = models
        self._ends = ends
        self._postgres: PostgresServer | None = None
        self._nodes: Nodes | None = None
        self.panel = folder / "panel.json"
        self.panel.write_text(json.dumps(_PANEL))
        self._empty = folder / "empty.db"
        upgrade(f"sqlite:///{self._empty}")

    @property
    def postgres(self) -> PostgresServer:
        """A durable server of its own."""
        if self._postgres is None:
            self._postgres = self._ends.enter_context(postgres_server(durable=True))
            self._postgres.execute(f"CREATE DATABASE {TEMPLATE}")
            upgrade(self._postgres.url(TEMPLATE))
        return self._postgres

    @property
    def nodes(self) -> Nodes:
        """Two nodes whose workers find the models."""
        if self._nodes is None:
            folder = tempfile.mkdtemp(dir="/tmp", prefix="chaos-")
            self._ends.callback(shutil.rmtree, folder, ignore_errors=True)
            variables = self.models.variables
            self._nodes = self._ends.enter_context(ray_nodes(folder, variables, variables))
        return self._nodes

    @property
    def clock_library(self) -> Path:
        """What is preloaded into a process whose clock is to be moved; compiled once.

        Raises:
            CannotStrike: there is no C compiler.
        """
        built = self.folder / "moved_clock.so"
        if not built.exists():
            if (compiler := shutil.which("cc")) is None or sys.platform != "linux":
                raise CannotStrike("moving a clock takes Linux and a C compiler (cc)")
            source = Path(__file__).with_name("moved_clock.c")
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", built, source, "-ldl"], check=True)
        return built

    def replace_node(self) -> None:
        """SIGKILL to the raylet of the second node; another node joins."""
        self.nodes.do("kill 1")
        self.nodes.do(f"add {json.dumps(self.models.variables)}")

    def sqlite_store(self, folder: Path) -> str:
        """An empty store in a folder."""
        shutil.copyfile(self._empty, folder / "jury.db")
        return f"sqlite:///{folder / 'jury.db'}"

    def postgres_store(self) -> str:
        """An empty store on PostgreSQL."""
        return self.postgres.url(self.postgres.create_database(TEMPLATE))


@contextmanager
def shared_ground(folder: Path) -> Iterator[Ground]:
    """For as long as the context lasts."""
    with counted_models() as models, ExitStack() as ends:
        yield Ground(folder, models, ends)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of a few megabytes.

    Raises:
        CannotStrike: none can be mounted.
    """
    mounted = folder / "disk"
    mounted.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(mounted)]
    if os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        raise CannotStrike("only root may mount a small disk")
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=False)
