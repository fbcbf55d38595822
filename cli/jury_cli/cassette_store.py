"""A store for the time of one command, with the debates of cassettes: who has only files reads them as a store."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jury_cli.calls import call
from jury_cli.terminal import note
from jury_events.errors import JuryError
from jury_events.text import pluralize

if TYPE_CHECKING:
    from jury_judge import Records


def named_files(names: Sequence[str]) -> list[Path]:
    """Those of the arguments that name cassettes: files and folders that are there, and no ids."""
    return [Path(name) for name in names if name.endswith(".jsonl") or "/" in name or (name and Path(name).is_dir())]


@contextmanager
def cassette_store(paths: Sequence[Path], key_files: Sequence[Path] = ()) -> Iterator[str]:
    """The URL of a store with the debates of these cassettes, or folders of cassettes; it is deleted afterwards.

    With `key_files`, each must be whole under a seal by a public key of one of them.
    """
    from jury_cli.import_ import imported_streams
    from jury_judge import Records
    from jury_judge.seals.key_files import read_keys

    with TemporaryDirectory(prefix="jury-cassettes-") as folder:
        url = f"sqlite:///{folder}/cassettes.db"
        found = call(
            Records(url, threads=False).import_cassettes(paths, keys=read_keys(key_files), say=lambda _line: None)
        )
        for _, problem in found.refused:
            note(f"jury: {problem}")
        if found.refused:
            raise _refused(len(found.refused), found.refused[0][1])
        for line in imported_streams(found):
            note(line)
        yield url


async def every_debate(records: "Records") -> list[str]:
    """The ids of all debates of a store."""
    return [row.debate_id async for row in records.debates()]


def _refused(count: int, first: JuryError) -> JuryError:
    """The error that ends the command, of the kind of the first one."""
    return type(first)(f"{pluralize(count, 'cassette')} refused, so that nothing is shown")
