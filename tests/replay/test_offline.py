"""Commands on recorded debates open no connection."""

import socket

import pytest

from jury_replay import no_network


def test_no_connection_and_no_lookup_leaves_the_process_meanwhile() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = listener.getsockname()
        with no_network():
            with pytest.raises(PermissionError, match="without a network"):
                socket.create_connection(address)
            with pytest.raises(PermissionError, match="without a network"), socket.socket() as sender:
                sender.connect(address)

        socket.create_connection(address).close()


def test_processes_of_one_machine_may_still_talk() -> None:
    with no_network():
        ours, theirs = socket.socketpair()
        ours.sendall(b"x")

        assert theirs.recv(1) == b"x"

    ours.close()
    theirs.close()
