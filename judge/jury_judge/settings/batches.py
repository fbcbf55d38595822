"""Whether the calls of a run go through the batches of providers."""

from typing import Annotated, Any, Literal

from pydantic import Field

from jury_events.value import Label
from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel

Hours = Annotated[float, Field(gt=0, le=24 * 28)]


class BatchSettings(SettingsModel):
    """See `docs/batches.md`.

    Attributes:
        batch: calls go into batches where their provider has any.
        once: make one pass, and do not wait for answers.
        batch_deadline: hours after which a provider is asked to end a batch, if it says that it has not ended.
        batch_abandon: hours after which calls are made otherwise, if it says so still, as long after it was asked.
        batch_not_ours: providers' ids of batches that are not of the run, though they may be by time and count.
        batch_same_account: the API keys of now are of the accounts that have the open batches.
        batch_turns: `first`: the later turns of a call that used a tool are live; `all`: they go into batches too.
    """

    batch: bool = False
    once: bool = False
    batch_deadline: Hours = 26.0
    batch_abandon: Hours = 48.0
    batch_same_account: bool = False
    batch_not_ours: tuple[Label, ...] = ()
    batch_turns: Literal["first", "all"] = "first"

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not self.batch:
            for name, field in BatchSettings.model_fields.items():
                if name != "batch" and getattr(self, name) != field.default:
                    raise SettingsRefused(f"{{{name}}} has no effect without {{batch}}")
        if self.batch_abandon < self.batch_deadline:
            raise SettingsRefused("{batch_abandon} must not be before {batch_deadline}")
