"""Whether a Ray cluster that others started may be joined, and with which token."""

import os
from pathlib import Path

from jury_actors.errors import ClusterOpen, ClusterRefused
from jury_actors.ray_address import answers
from jury_events.regular_files import read_failure, read_text

_MOST_BYTES = 1 << 16
AUTH_VARIABLE = "RAY_AUTH_TOKEN"
AUTH_FILE_VARIABLE = "RAY_AUTH_TOKEN_PATH"
_PLACES = f"{AUTH_VARIABLE}, the file that {AUTH_FILE_VARIABLE} names, or ~/.ray/auth_token"


def token_for(address: str, *, open_cluster: bool = False) -> str | None:
    """The token that is set here and that the cluster at `address` (host:port) accepts; None for an open cluster.

    Args:
        address: of the cluster.
        open_cluster: a cluster that requires no token is accepted.

    Raises:
        ClusterUnreachable: no Ray cluster answers at `address`.
        ClusterOpen: the cluster requires no token.
        ClusterRefused: it requires one, and none is set here, or another.
    """
    if answers(address):
        if open_cluster:
            return None
        raise ClusterOpen(
            f"the Ray cluster at {address} requires no token: anyone who reaches its ports can run code in the "
            "jurors' processes, and read keys and cases there; start it with RAY_AUTH_MODE=token (docs/ray.md), or "
            "accept that with --ray-open-cluster, in Python with ray_open_cluster=True"
        )
    token = _token(address)
    if not token:
        raise ClusterRefused(f"the Ray cluster at {address} asks for a token, and none is set: put it into {_PLACES}")
    if not answers(address, token):
        raise ClusterRefused(
            f"the Ray cluster at {address} does not accept the token that is set here; "
            f"put the one that it was started with into {_PLACES}"
        )
    return token


def _token(address: str) -> str:
    """Read where Ray reads it, in the same order."""
    if token := os.environ.get(AUTH_VARIABLE, "").strip():
        return token
    named = os.environ.get(AUTH_FILE_VARIABLE, "")
    path = Path(named) if named else Path.home() / ".ray" / "auth_token"
    try:
        return read_text(path, _MOST_BYTES).strip()
    except FileNotFoundError:
        if not named:
            return ""
        problem = "there is no such file"
    except UnicodeDecodeError:
        problem = "it is no text"
    except (OSError, ValueError) as error:
        problem = read_failure(error)
    raise ClusterRefused(f"the Ray cluster at {address} asks for a token, and {path} cannot be read: {problem}")
