"""A headless Chromium for tests: this machine's, or that of an npm package."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

PACKAGE = "@sparticuz/chromium@153.0.0"
"""Chromium without a window, with the libraries that small machines lack; as a file, on every system."""

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chromium-headless-shell")
_SETTING = "JURY_TEST_CHROMIUM"
_HELP = (
    f"these tests drive a Chromium, and there is none: install Debian's `chromium`, or Node.js with npm (which fetches "
    f"{PACKAGE}), or name one in ${_SETTING}"
)

# Both archives of the package are unpacked by Node.js alone, which has Brotli; tar does the rest.
_UNPACK = """
const fs = require("fs"), zlib = require("zlib"), [from, to] = process.argv.slice(1);
for (const [name, file] of [["chromium.br", "chromium"], ["al2023.tar.br", "libraries.tar"]])
  fs.writeFileSync(`${to}/${file}`, zlib.brotliDecompressSync(fs.readFileSync(`${from}/${name}`)));
"""


class Chromium(NamedTuple):
    """Where it is, and what its process must find in its environment."""

    path: str
    environment: dict[str, str]


def find_chromium() -> Chromium:
    """The Chromium of this machine, or a copy that is fetched once into the user's cache.

    Raises:
        RuntimeError: there is none, and none can be fetched; says what to install.
    """
    for name in (os.environ.get(_SETTING), *_NAMES):
        if name and (found := shutil.which(name)) is not None:
            return Chromium(found, {})
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jury-judge-tests" / "chromium-153.0.0"
    if not folder.exists():
        _fetch(folder)
    return Chromium(str(folder / "chromium"), {"LD_LIBRARY_PATH": str(folder / "lib")})


def _fetch(folder: Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise RuntimeError(_HELP)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        work, made = Path(name), Path(name) / "made"
        made.mkdir()
        package = work / "node_modules" / "@sparticuz" / "chromium" / "bin"
        try:
            _call(npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(work), PACKAGE)
            _call(node, "-e", _UNPACK, str(package), str(made))
            _call("tar", "-xf", str(made / "libraries.tar"), "-C", str(made))
        except (OSError, subprocess.SubprocessError) as error:
            detail = getattr(error, "stderr", b"") or b""
            raise RuntimeError(f"{_HELP} ({error}: {detail.decode(errors='replace')[-500:]})") from error
        (made / "libraries.tar").unlink()
        (made / "chromium").chmod(0o755)
        if not folder.exists():
            made.rename(folder)


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=300)
