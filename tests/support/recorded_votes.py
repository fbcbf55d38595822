"""Jurors that give the recorded votes of other judges: simulated ones, whose word is that of the row and the seat."""

from collections.abc import Mapping
from typing import Any

import pytest

from jury_providers import ModelRequest, Prompt, SimulatedReader
from jury_providers.simulated.reader import ReaderOutput

Votes = Mapping[str, Mapping[str, str]]
"""By case id and seat: the word of the verdict."""


def give_votes(patches: pytest.MonkeyPatch, votes: Votes) -> None:
    """Until the patches are undone, simulated jurors give these votes.

    A seat has the id of its model behind `simulated/`. Everything but the verdict is as the simulated juror says it.
    """
    respond = SimulatedReader.respond

    def as_recorded(self: SimulatedReader, prompt: Prompt, request: ModelRequest, **given: Any) -> Any:
        found = respond(self, prompt, request, **given)
        debate, seat = request.trace.partition("/")[0], request.model.rpartition("/")[2]
        case = debate.partition("~")[2]
        if "verdict" not in found.answer:
            return found
        return ReaderOutput((), {**found.answer, "verdict": votes[case][seat]})

    patches.setattr(SimulatedReader, "respond", as_recorded)
