"""Panels that judge in a scale of their own: a file to start from, and a critical look at one."""

from typing import Any, NamedTuple

import yaml

from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec, read_spec
from jury_debate.presets import PRESETS
from jury_debate.resolved_panel import resolve
from jury_debate.scale_review import review_scale
from jury_debate.scale_spec import written_scale
from jury_events.bundled_scales import bundled_scale
from jury_events.panel import Language
from jury_judge.panels.calibration_files import with_calibration
from jury_judge.panels.document import BUNDLED_PANELS, read_document
from jury_judge.panels.files import field_in, with_prompts, written_spec
from jury_judge.settings_model import readable_message

_HEAD = """\
# A panel that judges in the scale {name}. The labels go from worst to best; each comes to an outcome
# (fail, review, pass). Change the words and what they mean, then: jury panel --check FILE
"""


def scale_panel_text(name: str, language: Language) -> str:
    """A panel file with a bundled scale, its criteria and its question written out.

    Args:
        name: one of `BUNDLED_SCALES`.
        language: of the panel.
    """
    known = bundled_scale(name, language)
    panel = resolve(read_spec({"scale": name, "language": language})).panel
    whole = panel.model_copy(update={"scale": known.scale, "task": known.task})
    fields: dict[str, Any] = {"name": name, "language": language, **written_scale(whole)}
    return _HEAD.format(name=name) + yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=120)


class CheckedPanel(NamedTuple):
    """What is to mend in the words of a panel file, a line each; `usable`: nothing of it has to be.

    `outside`: a line for each file that it names and that is not in its folder.
    """

    lines: tuple[str, ...]
    usable: bool
    outside: tuple[str, ...]


def check_panel_file(path: str) -> CheckedPanel:
    """Read a panel file critically: its labels, criteria and meanings."""
    document, _ = with_calibration(with_prompts(read_document(path, (*PRESETS, *BUNDLED_PANELS))), ())
    spec: PanelSpec = written_spec(document)
    try:
        panel = resolve(spec).panel
    except PanelError as error:
        message = readable_message(str(error))
        raise document.refused(field_in(message), message) from error
    found = review_scale(panel)
    lines = tuple(str(document.refused(field_in(f"{one.place}:"), f"{one.place}: {one.what}")) for one in found)
    return CheckedPanel(lines, all(one.kind == "noted" for one in found), document.outside)
