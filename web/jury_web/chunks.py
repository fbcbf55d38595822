"""Long contents in chunks, so that a response never copies megabytes at once."""

from collections.abc import Iterator

_SIZE = 64 * 1024


def chunks(content: bytes) -> Iterator[bytes]:
    """`content` in pieces of at most 64 KiB."""
    view = memoryview(content)
    for start in range(0, len(view), _SIZE):
        yield bytes(view[start : start + _SIZE])
