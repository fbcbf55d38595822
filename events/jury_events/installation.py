"""How what an extra needs is installed, for every message that misses it.

No release is published: the two ways are a clone and a wheel. On the day of the first release this line names the
package in place of WHEEL, and so does `docs/install.md`, to which all other pages lead.
"""


def install_line(extra: str) -> str:
    """The commands that install an extra; WHEEL is the file or the address of a wheel."""
    return f"uv sync --inexact --extra {extra} (in a clone) or pip install 'WHEEL[{extra}]'"
