"""`--policy FILE`: the policy text of all cases."""

from pathlib import Path

from jury_cases.errors import CaseFileError
from jury_events.named_files import read_named_text
from jury_events.regular_files import FileTooLarge, read_failure
from jury_events.text.visible_text import visible_line

MAX_BYTES = 4 * 1024 * 1024


def read_policy(path: Path) -> str:
    """The text of the file."""
    name = visible_line(str(path), 1000)
    try:
        text = read_named_text(path, MAX_BYTES)
    except FileNotFoundError as error:
        raise CaseFileError(f"--policy {name}: there is no such file") from error
    except FileTooLarge as error:
        raise CaseFileError(f"--policy {name}: {error.strerror}; every juror reads all of it") from error
    except UnicodeDecodeError as error:
        raise CaseFileError(f"--policy {name}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        raise CaseFileError(f"--policy {name}: cannot be read: {read_failure(error)}") from error
    if not text.strip():
        raise CaseFileError(f"--policy {name}: the file is empty; leave --policy out")
    return text
