"""Packages that extend Jury Judge, installed into a folder that a process is given as PYTHONPATH."""

import os
import subprocess
import textwrap
from pathlib import Path

_ENVIRONMENT = dict(os.environ)
"""As it was before any test: an installation needs the certificate authorities of this machine."""


def install(project: Path, target: Path) -> Path:
    """Install a project as pip would, without its dependencies; gives `target`."""
    uv = os.environ.get("UV", "uv")
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(project)],
        check=True,
        capture_output=True,
        env=_ENVIRONMENT,
    )
    return target


def write_package(target: Path, name: str, code: str, **groups: str) -> Path:
    """A module of that name, and the metadata of a package that offers an entry point a group; gives `target`."""
    target.mkdir(exist_ok=True)
    (target / f"{name}.py").write_text(textwrap.dedent(code))
    info = target / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    entries = (f"[jury_judge.{group}]\n{entry}\n" for group, entry in groups.items())
    (info / "entry_points.txt").write_text("".join(entries))
    return target
