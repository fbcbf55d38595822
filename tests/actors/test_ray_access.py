"""Which clusters may be joined is decided before Ray is asked: the open ones only where that is accepted."""

from pathlib import Path

import pytest

from jury_actors import ClusterOpen, ClusterRefused, ClusterUnreachable, token_for
from support.each_row import each_row
from support.ray_head import ray_head

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
