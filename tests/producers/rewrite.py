"""Runs the producers' scripts anew and says what the tools write otherwise.

    uv run --group test python tests/producers/rewrite.py [NAME …] [--upgrade] [--write]

Each script runs in an environment made of its requirements (`requirements.txt`, or `package-lock.json` for a tool of
npm) and writes into a temporary folder. What it wrote is compared with the kept files. A script that fails is named,
and the others go on; the exit code is 1 then. Environments and their packages come from the registries that uv and npm
are set to.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from differences import file_differences, paired

HERE = Path(__file__).parent
_SECONDS = 900
"""A script's limit."""

_LINES = 10
"""Of what a failed command said."""

_OF_NPM = ("package.json", "package-lock.json")
_RUNTIME = "node"
"""A package of npm that is not upgraded: what the tool runs on, as Python is for the others."""


class ProducerFailed(Exception):
    """An environment could not be made, or a script failed; the message says which command, and what it said last."""


@dataclass(frozen=True)
class Producer:
    """A folder with a script.

    Attributes:
        folder: with `produce.py`.
        work: temporary: the environment, and the files written anew in `work / "files"`.
    """

    folder: Path
    work: Path

    @property
    def files(self) -> Path:
        return self.work / "files"

    def run(self, *, upgrade: bool) -> None:
        """Make the environment and run the script; raises ProducerFailed."""
        self.files.mkdir(parents=True)
        python, path = sys.executable, os.environ.get("PATH", "")
        if (self.folder / "requirements.in").exists():
            python = self._python(upgrade=upgrade)
        if (self.folder / "package.json").exists():
            path = f"{self._node(upgrade=upgrade)}{os.pathsep}{path}"
        environment = {
            **{name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONHOME"}},
            "PATH": path,
            "PYTHONPATH": str(self._shared()),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        _call([python, str(self.folder / "produce.py"), str(self.files)], self.work, environment)
        if not (self.files / "produced.json").is_file():
            raise ProducerFailed("produce.py ended well and wrote no produced.json")

    def _shared(self) -> Path:
        """A folder with the shared modules alone: beside them are folders with the names of libraries."""
        shared = self.work / "shared"
        shared.mkdir()
        for path in self.folder.parent.glob("*.py"):
            shutil.copy(path, shared)
        return shared

    def _python(self, *, upgrade: bool) -> str:
        """The interpreter of an environment made of the requirements."""
        locked = self.work / "requirements.txt"
        shutil.copy(self.folder / "requirements.txt", locked)
        if upgrade:
            quiet = ("--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--upgrade")
            _call(["uv", "pip", "compile", *quiet, str(self.folder / "requirements.in"), "-o", str(locked)], self.work)
        environment = self.work / "environment"
        _call(["uv", "venv", "--quiet", str(environment)], self.work)
        python = str(environment / "bin" / "python")
        _call(["uv", "pip", "install", "--quiet", "--python", python, "-r", str(locked)], self.work)
        return python

    def _node(self, *, upgrade: bool) -> str:
        """The folder of commands of the installed npm packages."""
        for name in _OF_NPM:
            shutil.copy(self.folder / name, self.work / name)
        # Not `npm ci`: it asks for the optional packages of all systems in the lock.
        install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
        _call(install, self.work)
        if upgrade:
            package = json.loads((self.work / "package.json").read_text(encoding="utf-8"))
            newest = [f"{name}@latest" for name in package["dependencies"] if name != _RUNTIME]
            _call([*install, "--save-exact", *newest], self.work)
            lock = self.work / "package-lock.json"
            lock.write_text(without_addresses(lock.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            for name in _OF_NPM:
                (self.work / name).unlink()
        return str(self.work / "node_modules" / ".bin")

    def changes(self) -> Iterator[str]:
        """What differs from the kept files, in words; raises OSError."""
        for name in ("requirements.txt", *_OF_NPM):
            if (self.work / name).exists():
                yield from (f"{name}: {line}" for line in _lock_changes(self.folder / name, self.work / name))
        new = {path.relative_to(self.files).as_posix() for path in _files(self.files)}
        kept = kept_files(self.folder)
        known = paired(kept, new)
        yield from (f"{name}: no longer written" for name in sorted(kept - set(known.values())))
        yield from (f"{name}: new" for name in sorted(new - known.keys()))
        for name, old in known.items():
            for line in file_differences(self.folder / old, self.files / name):
                if not (name == "produced.json" and line.startswith("date: ")):
                    yield f"{name}: {line}"

    def write(self) -> None:
        """Replace the kept files and the locked versions."""
        for name in kept_files(self.folder):
            (self.folder / name).unlink(missing_ok=True)
        shutil.copytree(self.files, self.folder, dirs_exist_ok=True)
        for name in ("requirements.txt", *_OF_NPM):
            if (self.work / name).exists():
                shutil.copy(self.work / name, self.folder / name)


def kept_files(folder: Path) -> set[str]:
    """The paths of a producer's `produced.json` and of what that names; what the script needs itself is not kept."""
    record = folder / "produced.json"
    if not record.is_file():
        return set()
    named = [folder / one["file"] for one in json.loads(record.read_text(encoding="utf-8"))["files"]]
    return {"produced.json", *(path.relative_to(folder).as_posix() for one in named for path in _files(one))}


def _files(path: Path) -> list[Path]:
    return [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]


def without_addresses(lock: str) -> str:
    """The text of a `package-lock.json` without the addresses of the registry that it was made with."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: stripped(inner) for name, inner in value.items() if name != "resolved"}
        return value

    return json.dumps(stripped(json.loads(lock)), indent=2) + "\n"


def _lock_changes(before: Path, after: Path) -> list[str]:
    """Versions that differ; for npm the whole lock, by keys."""
    if before.suffix != ".txt" or not before.exists():
        return file_differences(before, after) if before.exists() else ["new"]
    old, new = (
        dict(line.split("==", 1) for line in path.read_text(encoding="utf-8").splitlines() if "==" in line)
        for path in (before, after)
    )
    return [
        f"{name} {old.get(name, '(none)')} → {new.get(name, '(none)')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def _call(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command; raises ProducerFailed with the last lines that it wrote."""
    name = " ".join([Path(command[0]).name, *(Path(one).name if "/" in one else one for one in command[1:3])])
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except FileNotFoundError as error:
        raise ProducerFailed(f"{Path(command[0]).name} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise ProducerFailed(f"{name}: did not end in {_SECONDS} seconds") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()
        shown = said if len(said) <= _LINES else [*said[: _LINES // 2], "…", *said[-_LINES // 2 :]]
        raise ProducerFailed("\n    ".join([f"{name}: exit code {done.returncode}; it said:", *shown]))


def rewrite(folders: list[Path], *, upgrade: bool, write: bool) -> int:
    """Run the producers, one after the other, and print what changed; returns the number of those that failed."""
    failed = 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as work:
            producer = Producer(folder, Path(work))
            try:
                producer.run(upgrade=upgrade)
                changes = list(producer.changes())
            except (ProducerFailed, OSError) as error:
                failed += 1
                print(f"{folder.name}: FAILED: {error}")
                continue
            print(f"{folder.name}: {'changed' if changes else 'as before'}")
            for line in changes:
                print(f"  {line}")
            if changes and write:
                producer.write()
                print("  written")
    return failed


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", metavar="NAME", nargs="*", help="folders of tests/producers (default: all)")
    parser.add_argument("--upgrade", action="store_true", help="with the newest versions of the tools")
    parser.add_argument("--write", action="store_true", help="replace the kept files where something changed")
    given = parser.parse_args()
    known = {path.parent.name: path.parent for path in sorted(HERE.glob("*/produce.py"))}
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"no producer {', '.join(unknown)}; there are {', '.join(known)}")
    failed = rewrite([known[name] for name in given.names or known], upgrade=given.upgrade, write=given.write)
    if failed:
        print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
