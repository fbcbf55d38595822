"""Which panel sits: a preset, or a panel file (YAML or JSON), changed by the environment and by explicit arguments."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec, ResolvedPanel, read_spec, resolve
from jury_debate.presets import PRESETS
from jury_judge.cases.strict_json import JsonRefused, decode_text
from jury_judge.errors import PanelFileError
from jury_judge.panels.strict_yaml import YamlDocument, YamlRefused, read_yaml
from jury_judge.panels.variables import Overrides, apply, read_variables, with_discussion, without_discussion
from jury_judge.views.visible_text import visible_line

MAX_BYTES = 1 << 20
_SUFFIXES = {".yaml", ".yml", ".json"}
_NO_OVERRIDES = Overrides()


def load_panel(
    name_or_path: str | None, environ: Mapping[str, str], overrides: Overrides = _NO_OVERRIDES
) -> ResolvedPanel:
    """The panel, every default written out.

    Explicit wins over environment, environment over file. A preset that is named here is explicit:
    `JURY_USE_COLLABORATIVE` does not change it; the other variables change its rules. Where that variable is false, the
    other variables, which set up a discussion and its judge, are not read.

    Args:
        name_or_path: a preset, or a file; None is the default preset. Without seats, simulated jurors sit.
        environ: the environment, as `os.environ`.
        overrides: explicit arguments.

    Raises:
        PanelFileError: the file, a field in it, a variable or an argument cannot be used.
    """
    document: YamlDocument | None = None
    name = None
    if name_or_path is None or name_or_path in PRESETS:
        spec = PanelSpec() if name_or_path is None else PanelSpec(preset=name_or_path)
    else:
        name = visible_line(name_or_path, 1000)
        document = _read(name_or_path, name)
        spec = _spec(document, name)
    spec = _by_environment(spec, environ, preset_is_explicit=name_or_path in PRESETS)
    try:
        spec = apply(spec, overrides)
        panel = resolve(spec)
    except (PanelError, PanelFileError) as error:
        place = "the panel" if name is None else name
        raise PanelFileError(f"{place}: {_said(error)}") from error
    if overrides.judge_model is not None and panel.panel.final.judge is None:
        raise PanelFileError(
            f"the judge model {visible_line(overrides.judge_model)!r} has no effect with the method "
            f"{panel.panel.final.method}; ask for the method final_judge too"
        )
    return panel


def _by_environment(spec: PanelSpec, environ: Mapping[str, str], *, preset_is_explicit: bool) -> PanelSpec:
    variables = read_variables(environ)
    if variables.collaborative is False and not preset_is_explicit:
        return without_discussion(spec)
    if variables.collaborative is True and not preset_is_explicit:
        spec = with_discussion(spec)
    return apply(spec, variables.overrides)


def _spec(document: YamlDocument, name: str) -> PanelSpec:
    if document.data is None:
        raise PanelFileError(f"{name}: the file is empty; write at least a preset, as in preset: adk-sequential")
    if not isinstance(document.data, dict):
        raise PanelFileError(f"{name}: must be a table of fields such as preset, seats, discussion and final")
    try:
        return read_spec(document.data)
    except PanelError as error:
        cause = error.__cause__
        line = document.line(cause.errors()[0]["loc"]) if isinstance(cause, ValidationError) else None
        raise PanelFileError(f"{name}:{line}: {_said(error)}" if line else f"{name}: {_said(error)}") from error


def _read(path: str, name: str) -> YamlDocument:
    try:
        with Path(path).open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise PanelFileError(_not_found(path, name)) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise PanelFileError(f"{name}:{line}: not UTF-8; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise PanelFileError(f"{name}: cannot be read: {cause}") from error
    if len(raw) > MAX_BYTES:
        raise PanelFileError(f"{name}: larger than {MAX_BYTES >> 20} MiB; is this a panel file?")
    if Path(path).suffix.lower() == ".json":
        return _json(text, name)
    try:
        return read_yaml(text)
    except YamlRefused as error:
        raise PanelFileError(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error


def _json(text: str, name: str) -> YamlDocument:
    """JSON is read as such: YAML refuses the tabs that it may be indented with."""
    try:
        return YamlDocument(decode_text(text) if text.strip() else None, None)
    except JsonRefused as error:
        line = None if error.position is None else text.count("\n", 0, error.position) + 1
        raise PanelFileError(f"{name}:{line}: {error}" if line else f"{name}: {error}") from error


def _said(error: Exception) -> str:
    """Without pydantic's prefix for our own words, and with ours for a field that is unknown."""
    said = str(error).replace("Value error, ", "", 1)
    return said.replace("Extra inputs are not permitted", "there is no such field", 1)


def _not_found(path: str, name: str) -> str:
    if Path(path).suffix.lower() in _SUFFIXES or "/" in path:
        return f"{name}: there is no such panel file"
    return f"{name}: neither a preset ({', '.join(PRESETS)}) nor a file"
