"""What is erased, and by whose order."""

from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel


class ErasureScope(SettingsModel):
    """Whose texts are erased: one of these.

    Attributes:
        debate_id: all texts of this debate.
        exchange: a debate, and the id of the model call of which the texts are erased.
        review: a debate, and the number of the review whose reason is erased, or of its withdrawal.
        case_id: all texts of all debates over this case, of all runs.
    """

    debate_id: str | None = None
    exchange: tuple[str, str] | None = None
    review: tuple[str, int] | None = None
    case_id: str | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        named = [bool(self.debate_id), self.exchange is not None, self.review is not None, self.case_id is not None]
        if named.count(True) != 1:
            raise SettingsRefused(
                "name a debate, or {exchange} DEBATE EXCHANGE, or {review} DEBATE NUMBER, or {case_id} ID"
            )

    @property
    def one_debate(self) -> str | None:
        """The debate; None: all over the case."""
        if self.exchange is not None:
            return self.exchange[0]
        return self.debate_id if self.review is None else self.review[0]

    @property
    def recorded(self) -> str:
        """The scope as the event of an erasure names it."""
        if self.exchange is not None:
            return self.exchange[1]
        if self.review is not None:
            return f"review/{self.review[1]}"
        return "debate" if self.case_id is None else "case"


class Erasure(ErasureScope):
    """An erasure that is ordered.

    Attributes:
        by: who erases; recorded for ever.
        reason: why, in one line without personal data; recorded for ever.
    """

    by: str | None = None
    reason: str | None = None

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not (self.by and self.reason):
            raise SettingsRefused("say {by} WHO and {reason} WHY: both are recorded")
