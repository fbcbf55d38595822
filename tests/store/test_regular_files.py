"""A file is read only if it is regular and within the size limit; nothing blocks."""

import os
import socket
from pathlib import Path

import pytest

from jury_store.regular_files import FileTooLarge, open_regular, read_regular, read_text


def test_a_regular_file_is_read_through_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfabc")
    (tmp_path / "link").symlink_to("text")

    assert "abc" == read_text(tmp_path / "link", 6)


def test_a_link_is_refused_without_follow(tmp_path: Path) -> None:
    (tmp_path / "text").touch()
    (tmp_path / "link").symlink_to("text")

    with pytest.raises(OSError, match="symbolic link"):
        open_regular(tmp_path / "link", follow=False)


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="not a regular file"):
        read_regular(tmp_path / "pipe", 10)


def test_a_device_a_folder_and_a_socket_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for path in ("/dev/zero", ".", "socket"):
            with pytest.raises(OSError, match=r"not a regular file|Is a directory|No such device"):
                read_regular(path, 10)


@pytest.mark.parametrize(("most", "limit"), [(2, "2 bytes"), (2048, "2 KiB"), (1 << 20, "1 MiB")])
def test_a_file_beyond_its_limit_is_refused(tmp_path: Path, most: int, limit: str) -> None:
    (tmp_path / "exact").write_bytes(b"x" * most)
    (tmp_path / "more").write_bytes(b"x" * (most + 1))

    assert most == len(read_regular(tmp_path / "exact", most))
    with pytest.raises(FileTooLarge, match=f"larger than {limit}"):
        read_regular(tmp_path / "more", most)
