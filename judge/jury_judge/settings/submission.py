"""The settings of a run that a server executes."""

from typing import Annotated

from pydantic import ConfigDict, Field

from jury_judge.settings.run import RunSettings

MOST_SUBMITTED_AT_ONCE = 1000


class SubmissionSettings(RunSettings):
    """What a client may ask of a run: its id, and how many debates run at once.

    Panel, budget, runtime and store are the server's. Without `concurrency`, so is the number of debates at once.
    """

    model_config = ConfigDict(coerce_numbers_to_str=False)  # in JSON a text is a text

    concurrency: Annotated[int, Field(ge=1, le=MOST_SUBMITTED_AT_ONCE)] = 64

    @property
    def asked_at_once(self) -> int | None:
        """How many debates are to run at once; None: the client leaves it to the server."""
        return self.concurrency if "concurrency" in self.model_fields_set else None
