"""What is shown of one debate."""

from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel


class ShowSettings(SettingsModel):
    """The whole debate as people read it, unless its events, its prompts or its evidence are asked for.

    Attributes:
        as_events: the events, one line each.
        as_prompts: what models were sent, call by call.
        as_evidence: what the jurors quote, seat by seat, and the decisive items.
        full: the case is not shortened.
        step: prompts of this step only.
        marked: prompts with their marks, exactly as they were sent.
    """

    as_events: bool = False
    as_prompts: bool = False
    as_evidence: bool = False
    full: bool = False
    step: str | None = None
    marked: bool = False

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.as_events and self.full:
            raise SettingsRefused("{as_events} shows no case; {full} goes without it")
        if self.as_prompts and (self.as_events or self.full):
            raise SettingsRefused("{as_prompts} shows what was sent; {as_events} and {full} go without it")
        if self.as_evidence and (self.as_events or self.as_prompts or self.full):
            raise SettingsRefused("{as_evidence} shows quotations; {as_events}, {as_prompts} and {full} go without it")
        if (self.step is not None or self.marked) and not self.as_prompts:
            raise SettingsRefused("{step} and {marked} go with {as_prompts}")
