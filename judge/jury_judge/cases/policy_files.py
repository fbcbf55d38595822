"""`--policy FILE`: a text that the agents of all cases were given."""

from pathlib import Path

from jury_judge.errors import CaseFileError
from jury_judge.views.visible_text import visible_line

MAX_BYTES = 4 * 1024 * 1024


def read_policy(path: Path) -> str:
    """The text of the file.

    Raises:
        CaseFileError: it cannot be read, is too long, empty, or no UTF-8.
    """
    name = visible_line(str(path), 1000)
    try:
        if not path.is_file():
            raise CaseFileError(f"--policy {name}: there is no such file")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise CaseFileError(f"--policy {name}: cannot be read: {cause}") from error
    if len(content) > MAX_BYTES:
        raise CaseFileError(f"--policy {name}: longer than {MAX_BYTES >> 20} MiB; every juror reads all of it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseFileError(f"--policy {name}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from error
    if not text.strip():
        raise CaseFileError(f"--policy {name}: the file is empty; leave --policy out")
    return text
