"""`prompt_file` of a seat or the final judge: a prompt in a separate file."""

from pathlib import Path
from typing import Any

from jury_events.panel import MOST_SEATS
from jury_events.text import visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.document import PanelDocument, read_text

FIELD = "prompt_file"


def with_prompts(document: PanelDocument) -> PanelDocument:
    """The document with every `prompt_file` replaced by a `prompt` with the file's text."""
    data, read = dict(document.data), document
    # Too many seats are refused later; their files are not read.
    if isinstance(data.get("seats"), list) and len(data["seats"]) <= MOST_SEATS:
        seats = list(data["seats"])
        for index, seat in enumerate(seats):
            if _names_prompt(seat):
                seats[index], read = _prompted(read, ("seats", index), seat)
        data["seats"] = seats
    final = data.get("final")
    if isinstance(final, dict) and _names_prompt(final.get("judge")):
        judge, read = _prompted(read, ("final", "judge"), final["judge"])
        data["final"] = {**final, "judge": judge}
    return read._replace(data=data)


def _names_prompt(written: Any) -> bool:
    return isinstance(written, dict) and FIELD in written


def _prompted(
    document: PanelDocument, place: tuple[str | int, ...], written: dict[str, Any]
) -> tuple[dict[str, Any], PanelDocument]:
    field = (*place, FIELD)
    path_of_field = ".".join(map(str, field))
    path = written[FIELD]
    if not isinstance(path, str) or not path:
        raise document.refused(field, f"{path_of_field}: must be the path of a text file, from the panel file's folder")
    if written.get("prompt") is not None:
        raise document.refused(field, f"{path_of_field}: prompt is written too; keep one of them")
    name = visible_line(str(Path(document.folder, path)), 1000)
    try:
        text = read_text(Path(document.folder, path), name, lambda: f"no file {name}")
    except PanelFileError as error:
        raise document.refused(field, f"{path_of_field}: {error}") from error
    if not text.strip():
        raise document.refused(field, f"{path_of_field}: {name} is empty")
    prompted = {key: value for key, value in written.items() if key != FIELD} | {"prompt": text.strip()}
    return prompted, document.naming(field, Path(document.folder, path))
