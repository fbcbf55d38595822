"""Where the server listens, and by which names it is known there."""

import socket

import pytest

from jury_judge.errors import ServeRefused
from jury_judge.web.server import Address, listen


@pytest.mark.parametrize(
    ("address", "names", "loopback", "url"),
    [
        (
            Address("127.0.0.1", 8765),
            {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"},
            True,
            "http://127.0.0.1:8765",
        ),
        (Address("::1", 8765), {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}, True, "http://[::1]:8765"),
        (Address("192.168.1.5", 8765), {"192.168.1.5:8765"}, False, "http://192.168.1.5:8765"),
        (Address("192.168.1.5", 80), {"192.168.1.5:80", "192.168.1.5"}, False, "http://192.168.1.5:80"),
        (Address("192.168.1.5", 9, "jury"), {"192.168.1.5:9", "jury:9"}, False, "http://192.168.1.5:9"),
        (Address("fe80::1", 9), {"[fe80::1]:9"}, False, "http://[fe80::1]:9"),
        (Address("0.0.0.0", 9), {"127.0.0.1:9", "localhost:9", "[::1]:9"}, False, "http://127.0.0.1:9"),
    ],
)
def test_a_server_is_known_by_its_address(address: Address, names: set[str], loopback: bool, url: str) -> None:
    assert names == set(address.names)
    assert (loopback, url) == (address.loopback, address.url)


def test_a_name_to_listen_at_is_a_name_to_be_known_by() -> None:
    listener, address = listen("LocalHost", 0)
    listener.close()

    assert "localhost" == address.name
    assert address.loopback


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ServeRefused, match="choose another --port"):
        listen("127.0.0.1", taken.getsockname()[1])
