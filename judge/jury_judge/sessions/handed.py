"""A listed run that another process is to judge: the settings for it, as JSON on its standard input."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from jury_judge.errors import SettingsRefused
from jury_judge.sessions.resumed_run import resumed_run
from jury_judge.sessions.run_plan import RunPlan
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.judging import PanelSettings
from jury_judge.settings.run import RunSettings
from jury_store.opening import database_path, parse_store_url

_LISTED = frozenset({*CaseSettings.model_fields, "strict"})
"""What the list was made by: the log has the cases."""

_OF_THIS_MACHINE = frozenset({"junit", "markdown", "adopt", "trust"})
"""Reports are written where the command is called."""


class Handed(NamedTuple):
    """The settings of the run, further options of the command by name, and `RunPlan.reopens`."""

    settings: RunSettings
    shown: Mapping[str, Any]
    reopens: int

    @classmethod
    def of(cls, written: bytes) -> "Handed":
        """The inverse of `handed`."""
        found = json.loads(written)
        return cls(RunSettings.model_validate_json(json.dumps(found["settings"])), found["shown"], found["reopens"])

    def planned(self) -> RunPlan:
        """The run, from its store. Raises as `resumed_run`."""
        planned = resumed_run(self.settings)
        planned.reopens = self.reopens
        return planned


def handed(planned: RunPlan, shown: Mapping[str, Any], reopens: int, *, ray_address: str | None = None) -> bytes:
    """The message for a process.

    Args:
        planned: the run, which is listed.
        shown: further options of the command, as JSON values.
        reopens: see `RunPlan`.
        ray_address: of the cluster on which the process is, as it is known there; None: it is on this machine.
    """
    url = planned.store_url
    if url.startswith("sqlite"):
        url = f"sqlite:///{database_path(parse_store_url(url))}"
    settings = planned.settings.changed(run_id=planned.run.run_id, store_url=url, ray_address=ray_address)
    left_out = set(_LISTED)
    if ray_address is not None:  # the panel is in the log
        left_out |= _OF_THIS_MACHINE | PanelSettings.model_fields.keys()
    written = settings.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    return json.dumps({"settings": written, "shown": dict(shown), "reopens": reopens}).encode()


def check_for_cluster(settings: RunSettings) -> None:
    """Refuse what only this machine has.

    Raises:
        SettingsRefused: names the setting.
    """
    for field in ("seal_key", "prices"):
        if getattr(settings, field) is not None:
            raise SettingsRefused(
                f"{{{field}}} names a file of this machine: leave it out with --detach and {{ray_address}}"
            )
