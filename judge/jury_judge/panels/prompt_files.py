"""`prompt_file` of a seat or the final judge: a prompt in a separate file."""

from pathlib import Path
from typing import Any

from jury_events.panel import MOST_SEATS
from jury_events.text.visible_text import visible_line
from jury_judge.panels.document import PanelDocument, read_text

FIELD = "prompt_file"


def with_prompts(document: PanelDocument) -> PanelDocument:
    """The document with every `prompt_file` replaced by a `prompt` with the file's text.

    Raises:
        PanelFileError: the file cannot be read or is empty, or the seat also has a `prompt`.
    """
    data = dict(document.data)
    # Too many seats are refused later; their files are not read.
    if isinstance(data.get("seats"), list) and len(data["seats"]) <= MOST_SEATS:
        data["seats"] = [_prompted(document, ("seats", index), seat) for index, seat in enumerate(data["seats"])]
    final = data.get("final")
    if isinstance(final, dict) and "judge" in final:
        data["final"] = {**final, "judge": _prompted(document, ("final", "judge"), final["judge"])}
    return document._replace(data=data)


def _prompted(document: PanelDocument, place: tuple[str | int, ...], written: Any) -> Any:
    if not isinstance(written, dict) or FIELD not in written:
        return written
    field = (*place, FIELD)
    path_of_field = ".".join(map(str, field))
    path = written[FIELD]
    if not isinstance(path, str) or not path:
        raise document.refused(field, f"{path_of_field}: must be the path of a text file, from the panel file's folder")
    if written.get("prompt") is not None:
        raise document.refused(field, f"{path_of_field}: prompt is written too; keep one of them")
    name = visible_line(str(Path(document.folder, path)), 1000)
    text = read_text(
        Path(document.folder, path), name, lambda: str(document.refused(field, f"{path_of_field}: no file {name}"))
    )
    if not text.strip():
        raise document.refused(field, f"{path_of_field}: {name} is empty")
    return {key: value for key, value in written.items() if key != FIELD} | {"prompt": text.strip()}
