"""Words and rows that several reports of statistics share: seats and who speaks for all of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jury_analysis.wording import Wording
from jury_views.charts import dot_plot
from jury_views.report_sections import Chart, Figure, Sentence, Table, Words, in_language, table
from jury_views.terms import TranslatedLabels, Translation

if TYPE_CHECKING:
    from jury_analysis.estimate import Estimate
    from jury_analysis.scale import Exclusion


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


_LEFT_OUT = Wording("left out: {count:,} {unit} ({reason})", "対象外: {unit} {count:,}件（{reason}）")


def left_out(excluded: "Iterable[Exclusion]") -> Iterator[Sentence]:
    """A sentence a reason."""
    return (Sentence(_LEFT_OUT(count=one.count, unit=one.unit, reason=one.reason)) for one in excluded)


def rater(one: Any) -> Words:
    """A seat by its name, the others by what they are."""
    return str(one.seat) if one.seat is not None else RATERS[one.rater]()


def by_rater(seats: Iterable[Any], totals: Iterable[Any], figures: Sequence[Figure]) -> Table:
    """A row a seat, then rows of those that speak for all."""
    return table(raters(seats), figures, SEAT())._replace(totals=table(raters(totals), figures).rows)


def raters(found: Iterable[Any]) -> list[tuple[Words, Any]]:
    return [(rater(one), one) for one in found]


def dots(named: "Iterable[tuple[Words, Estimate]]") -> Chart:
    """Figures with their intervals, one below the other."""
    made = tuple(named)
    return Chart("dot_plot", lambda lang: dot_plot([(in_language(name, lang), one) for name, one in made]))


class StatisticsLabels(TranslatedLabels):
    """Statistics of a run or of ballots: figures, charts, what limits them."""

    stats = Translation("Statistics", "統計")
    stats_basis = Translation(
        "{debates} finished debates of {cases} cases in {clusters} clusters.",
        "終了した議論{debates}件（ケース{cases}件、クラスター{clusters}件）。",
    )
    stats_intervals = Translation(
        "Intervals are 95 %, over clusters of cases; bootstrap of {resamples} resamples, seed {seed}",
        "区間は95%信頼区間（ケースのクラスター単位、ブートストラップ{resamples}回、シード{seed}）",
    )
    stats_scale = Translation(
        "The labels of the scale {name} ({digest}) are counted.", "尺度{name}（{digest}）のラベルを数えています。"
    )
    stats_left_out = Translation("Left out:", "除外したもの:")
    unit_debates = Translation("debates", "議論")
    unit_votes = Translation("votes", "票")
    unit_cases = Translation("cases", "ケース")
    stats_false_passes = Translation("False passes", "誤った合格")
    stats_false_fails = Translation("False fails", "誤った不合格")
    stats_unsupported = Translation("Fails without support", "裏付けのない不合格")
    stats_quoted_by_judge = Translation("Final judge", "最終判定者")
    stats_quoted_by_all = Translation("All", "全体")
    stats_frontier = Translation("What fewer seats or rounds would do", "陪審員やラウンドを減らした場合")
    stats_frontier_none = Translation(
        "Not computed here: too many debates, several panels, or a record that cannot be used. "
        "See jury value --run {run}.",
        "ここでは計算していません（議論が多すぎる、陪審団が複数ある、または使えない記録がある）。"
        "jury value --run {run} をご覧ください。",
    )
    stats_simulated = Translation(
        "All debates of this run are simulated: their statistics say nothing about models.",
        "この実行の議論はすべて模擬であり、統計はモデルについて何も示しません。",
    )
    stats_show_simulated = Translation("Show them all the same", "それでも表示する")
    stats_extra = Translation(
        "Statistics need packages that are not installed where this server runs. Install them with:",
        "統計に必要なパッケージがサーバーにありません。次のコマンドでインストールできます:",
    )
    stats_no_votes = Translation(
        "No finished debate of this run has votes yet.", "この実行には、投票のある終了した議論がまだありません。"
    )
    stats_busy = Translation(
        "The server is computing other statistics. Try again in a moment.",
        "サーバーはほかの統計を計算しています。しばらくしてからもう一度開いてください。",
    )
    stats_impossible = Translation("There are no statistics of this:", "統計を計算できません:")
