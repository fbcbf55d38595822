"""Whether the calls of a run go through the batches of providers."""

from typing import Annotated, Any

from pydantic import Field

from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel

Hours = Annotated[float, Field(gt=0, le=24 * 28)]


class BatchSettings(SettingsModel):
    """See `docs/batches.md`.

    Attributes:
        batch: calls go into batches where their provider has any.
        once: make one pass, and do not wait for answers.
        batch_deadline: hours after which a provider is asked to end a batch, if it says that it has not ended.
        batch_same_account: the API keys of now are of the accounts that have the open batches.
    """

    batch: bool = False
    once: bool = False
    batch_deadline: Hours = 26.0
    batch_same_account: bool = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not self.batch:
            for name, field in BatchSettings.model_fields.items():
                if name != "batch" and getattr(self, name) != field.default:
                    raise SettingsRefused(f"{{{name}}} has no effect without {{batch}}")
