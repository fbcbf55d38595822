"""Words and rows that several reports of statistics share: seats and who speaks for all of them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jury_analysis.wording import Wording
from jury_views.charts.shapes import dot_plot
from jury_views.report_sections import Chart, Figure, Table, Words, in_language, table

if TYPE_CHECKING:
    from jury_analysis.estimate import Estimate

DEBATES = Wording("debates", "議論")
VALUE = Wording("value [95 %]", "値 [95 %]")
SEAT = Wording("seat", "陪審員")
PANEL = Wording("panel (plurality)", "陪審団（議論前の相対多数）")
JURY = Wording("jury (final verdict)", "陪審団（最終判定）")
RATERS = {
    "panel": PANEL,
    "jury": JURY,
    "judge": Wording("final judge", "最終判定者"),
    "all": Wording("all", "全体"),
    "labels": Wording("labels of people", "人によるラベル"),
}
SHARE = Wording("share", "割合")
ALPHA_NOMINAL = Wording("α nominal", "α（名義）")
ALPHA_ORDINAL = Wording("α ordinal", "α（順序）")
ACCURACY = Wording("accuracy", "正解率")
RIGHT = Wording("right", "正解")
DECIDED = Wording("decided", "判定あり")
P_HOLM = Wording("p, Holm", "p値（Holm補正）")


def rater(one: Any) -> Words:
    """A seat by its name, the others by what they are."""
    return str(one.seat) if one.seat is not None else RATERS[one.rater]()


def by_rater(seats: Iterable[Any], totals: Iterable[Any], figures: Sequence[Figure]) -> Table:
    """A row a seat, then rows of those that speak for all."""
    return table(raters(seats), figures, SEAT())._replace(totals=table(raters(totals), figures).rows)


def raters(found: Iterable[Any]) -> list[tuple[Words, Any]]:
    """What is found of each, with its name."""
    return [(rater(one), one) for one in found]


def dots(named: "Iterable[tuple[Words, Estimate]]") -> Chart:
    """Figures with their intervals, one below the other."""
    made = tuple(named)
    return Chart("dot_plot", lambda lang: dot_plot([(in_language(name, lang), one) for name, one in made]))
