"""The command as the user can type it again."""

import os

_BY_UV = "UV_RUN_RECURSION_DEPTH"
"""`uv run` sets it in the processes that it starts, `uvx` does not."""


def typed_command() -> str:
    """`jury`, or `uv run jury`, with which this process was started."""
    return "uv run jury" if _BY_UV in os.environ else "jury"
