"""Whether labels or outcomes of recorded debates are counted: those of different scales are never counted together."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from jury_events.text import visible_line
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.statistics import Count

_SHOWN = 5


class ChosenScale(NamedTuple):
    """What is counted of debates.

    Attributes:
        scale: the one scale of the panels' own; None: the three verdicts, or there are several scales.
        count: whether its labels are counted, or what they come to.
        mixed: a line about debates under different scales, of which only outcomes can be counted; "" without them.
    """

    scale: VerdictScale | None = None
    counts: Count = "outcomes"
    mixed: str = ""

    @property
    def labels_of(self) -> VerdictScale | None:
        """The scale whose labels are counted; None: outcomes are."""
        return self.scale if self.counts == "labels" else None

    @property
    def counted(self) -> str:
        """What is counted of which scale of the panels' own, with the digest; "" without one."""
        if self.scale is None:
            return ""
        return f"{self.counts} of the scale {visible_line(self.scale.name, 60)} ({self.scale.digest[:16]})"

    def to_dict(self) -> dict[str, Any] | None:
        """The scale as JSON values: name, digest, and what is counted; None without one."""
        if self.scale is None:
            return None
        return {"name": self.scale.name, "digest": self.scale.digest, "count": self.counts}


def chosen_scale(scales: Iterable[VerdictScale | None], count: Count | None) -> ChosenScale:
    """What is counted of debates under these scales.

    Args:
        scales: of the panels; None: the three verdicts.
        count: None: labels where all debates are of one scale.
    """
    named = {None if one is None else one.digest: one for one in scales}
    if len(named) <= 1:
        return ChosenScale(next(iter(named.values()), None), count or "labels")
    names = _apart(list(named.values()))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    judged = f"the debates are judged in {len(names)} scales ({shown})"
    if count == "labels":
        raise SettingsRefused(
            f"{escaped(judged)}, whose labels are not counted together: choose debates of one scale, or leave "
            "{count} labels out",
            usage=False,
        )
    return ChosenScale(mixed=f"{judged}: their outcomes are counted, and no label")


def _apart(scales: Sequence[VerdictScale | None]) -> list[str]:
    """The names of scales; those of one name, as after a meaning is changed, with their digests."""
    names = ["the three verdicts" if one is None else visible_line(one.name, 60) for one in scales]
    return sorted(
        name if one is None or names.count(name) == 1 else f"{name} {one.digest[:16]}"
        for name, one in zip(names, scales, strict=True)
    )
