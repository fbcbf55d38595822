"""What would be sent where under a panel, and what keeps it from running."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from jury_judge.diagnosis.finding import DiagnosisFinding
from jury_judge.panels.files import LoadedPanel
from jury_providers.catalogue import retirement_warnings
from jury_providers.errors import BadVariable
from jury_providers.recipients import recipients, self_judging_warning
from jury_providers.registry import key_destinations, missing_key, setting_warnings


def panel_findings(loaded: LoadedPanel, title: str, *, keys: bool) -> Iterator[DiagnosisFinding]:
    """Its seats, keys, recipients and models; without `keys` none is looked for in this environment."""
    panel = loaded.panel
    yield DiagnosisFinding("ok", f"{title}: {panel.name}, {', '.join(seat.juror_id for seat in panel.seats)}")
    # On a cluster keys are looked at where they are used: on its nodes.
    for name in dict.fromkeys(model.partition("/")[0] for model in panel.models if keys):
        try:
            variables = missing_key(name, loaded.endpoints, os.environ)
        except BadVariable as error:
            yield DiagnosisFinding("problem", f"provider {name}: {error}")
            continue
        if variables:
            yield DiagnosisFinding("problem", f"provider {name}: no key is set; set {' or '.join(variables)}")
    environ = os.environ if keys else None
    for line in recipients(panel, loaded.endpoints, environ):
        yield DiagnosisFinding("note", line)
    for line in key_destinations(panel, loaded.endpoints, environ or {}):
        yield DiagnosisFinding("note", line)
    today = datetime.now(UTC).date()
    for warning in (*retirement_warnings(panel.models, today), *setting_warnings(panel, loaded.endpoints)):
        yield DiagnosisFinding("warning", warning)
    if (on_a_seat := self_judging_warning(panel)) is not None:
        yield DiagnosisFinding("warning", on_a_seat)
