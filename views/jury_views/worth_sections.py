"""What seats and rounds are worth as sections: what each figure is called, and where it stands, for every reader."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_analysis.wording import Wording
from jury_events.text import visible_line
from jury_views.charts import frontier_chart
from jury_views.report_sections import Block, Chart, Figure, ReportCell, Section, Sentence, Table, listed, table
from jury_views.statistics_words import DECIDED, RIGHT, SEAT

if TYPE_CHECKING:
    from jury_analysis.frontier import CostFrontier, FrontierPoint
    from jury_analysis.panel_worth import PanelWorth

MOST_POINTS = 12
"""Choices in the chart, which are the first of the table."""

_SEATS = 12
_POINTS = 20

_DECIDED = Figure("decided", DECIDED)
_PRICE = (
    Figure("cost", Wording("cost a case", "案件あたりの費用"), "dollars"),
    Figure("calls", Wording("calls", "案件あたりの呼び出し"), "decimal"),
)
_ASSUMED = Figure("by_assumption", Wording("assumed", "仮定による"), "count")
_GOALS = {
    "accuracy": RIGHT,
    "agreement": Wording("as the whole panel", "陪審団全体と一致"),
}
_PRICES = {
    "cost": Wording("dollars a case", "案件あたりの費用（ドル）"),
    "calls": Wording("calls a case", "案件あたりの呼び出し数"),
    "tokens": Wording("tokens a case", "案件あたりのトークン数"),
    None: Wording("votes a case", "案件あたりの票数"),
}


def worth_sections(found: "PanelWorth") -> Iterator[Section]:
    """Seats, rounds, the frontier, and what stages and an early stop would do."""
    yield _seats(found)
    yield _rounds(found)
    yield frontier_section(found)
    if found.stages:
        yield _stages(found)
    if found.early_stops:
        yield _early_stops(found)


VALUES = (
    Figure("shapley", Wording("Shapley value", "シャープレイ値")),
    Figure("leave_one_out", Wording("lost without it", "欠くと失う分")),
    Figure("accuracy_without", Wording("right without", "欠いた場合の正解")),
    Figure("decided_without", Wording("decided without", "欠いた場合の判定")),
)
DRAWN = Figure("sampling_error", Wording("drawn ±", "標本誤差 ±"))
PLURALITY = (
    Figure("accuracy", Wording("the plurality of all seats is right", "全員の相対多数が正解")),
    Figure("decided", Wording("and decides", "判定した割合")),
)
_ADD_UP = Wording(
    "Shapley values add up to the share of right pluralities", "シャープレイ値の和は相対多数の正解率に等しくなります"
)
SINGLE = (
    Figure("accuracy", RIGHT),
    Figure("gain", Wording("what the plurality gains", "相対多数の利得")),
)
_IN_HINDSIGHT = Wording("in hindsight: {seat}", "事後に最良: {seat}")
_APART = Wording(
    "chosen on other clusters, of {parts} parts: {chosen}", "ほかのクラスターで選択（{parts}分割）: {chosen}"
)
_ORDERS = Wording(
    "values from {orders:,} drawn orders of the seats, seed {seed}",
    "陪審員の順序{orders:,}通りの標本による値（シード{seed}）",
)


def _seats(found: "PanelWorth") -> Section:
    values, drawn = found.values, found.values.orders is not None
    figures = (VALUES[0], *((DRAWN,) if drawn else ()), *VALUES[1:])
    rows = tuple(
        (ReportCell(one.seat), *(figure.cell(one) for figure in figures), *(price.cell(spent) for price in _PRICE))
        for one, spent in zip(values.seats, found.spending, strict=True)
    )
    blocks: list[Block] = [Table((SEAT(), *(one.name for one in (*figures, *_PRICE))), rows)]
    if values.labelled:
        blocks += [listed(values, PLURALITY, Wording("all seats together", "全員")()), Sentence(_ADD_UP())]
    if (best := found.best_seat) is not None:
        chosen = ", ".join(f"{visible_line(one.seat, 60)}: {one.parts}" for one in best.chosen[:_SEATS])
        named = [
            (_IN_HINDSIGHT(seat=visible_line(best.hindsight_seat, 60)), best.hindsight),
            (_APART(parts=best.parts, chosen=chosen), best.apart),
        ]
        blocks.append(table(named, SINGLE, Wording("the best single seat", "最良の1名")()))
    if values.orders is not None and values.seed is not None:
        blocks.append(Sentence(_ORDERS(orders=values.orders, seed=values.seed)))
    title = Wording("Seats, in the first evaluation", "陪審員（最初の評価）")
    return Section("seats", "seats", title(), tuple(blocks))


_HOW = {
    "recount": Wording(
        "Rounds of discussion, recounted under the debates' own rules", "議論のラウンド（議論自身の規則による再集計）"
    ),
    "plurality": Wording("Rounds of discussion, by the plurality of votes", "議論のラウンド（票の相対多数）"),
}
_ROUNDS_AT_MOST = Wording("{n} rounds", "{n}ラウンド", one="{n} round")


def _rounds(found: "PanelWorth") -> Section:
    gain = Figure("gain", Wording("gain of the round", "ラウンドによる改善"))
    rows = tuple(
        (
            ReportCell(_ROUNDS_AT_MOST(n=one.rounds)),
            _value(found.frontier).cell(one),
            gain.cell(one) if one.rounds else ReportCell(None),
            *(figure.cell(one) for figure in (_DECIDED, *_PRICE, _ASSUMED)),
        )
        for one in found.rounds
    )
    head = (_value(found.frontier), gain, _DECIDED, *_PRICE, _ASSUMED)
    shown = Table((Wording("at most", "最大")(), *(one.name for one in head)), rows)
    return Section("rounds", "rounds", _HOW[found.counting](), (shown,))


def _value(frontier: "CostFrontier") -> Figure:
    return Figure("value", _GOALS[frontier.goal])


_TRIED = Wording(
    "{n:,} choices of seats and rounds tried ({subsets:,} subsets of seats), over {units:,} debates: those that no "
    "other beats at their price. The best of many looks better than it is: confirm it on other cases",
    "陪審員とラウンドの{n:,}通り（陪審員の部分集合{subsets:,}通り、議論{units:,}件）のうち、同じ費用でそれを上回るものがない"
    "組み合わせです。多数から選んだ最良の値は実際より良く見えるため、別の案件で確認してください",
)
_ASSUMPTION = Wording(
    "assumed: after a discussion the seats are taken to say the same without the others, which the record cannot show",
    "仮定による: 他の陪審員がいなくても同じ発言をしたとみなしています。記録からは確認できません",
)


def frontier_section(found: "PanelWorth") -> Section:
    """The choices of seats and rounds that no other beats at their price."""
    report = found.frontier
    best = [one for one in report.points if one.on_frontier]
    figures = (
        Figure("rounds", Wording("rounds", "最大ラウンド数"), "count"),
        _value(report),
        _DECIDED,
        *_PRICE,
        _ASSUMED,
    )
    named = [(f"{number}: {_names(one)}", one) for number, one in enumerate(best, 1)]
    blocks: list[Block] = [
        Sentence(_TRIED(n=report.tried, subsets=found.subsets, units=report.units)),
        Chart(
            "frontier_chart",
            lambda lang: (
                frontier_chart(report, tuple(best[:MOST_POINTS])),
                report.measure,
                _GOALS[report.goal]().text(lang),
                _PRICES[report.measure]().text(lang),
            ),
        ),
        table(named, figures, SEAT(), few=_POINTS),
    ]
    if report.by_assumption:
        blocks.append(Sentence(_ASSUMPTION()))
    title = Wording("What fewer seats or rounds would do", "陪審員やラウンドを減らした場合")
    return Section("frontier", "frontier", title(), tuple(blocks))


def _names(one: "FrontierPoint") -> str:
    seats = " + ".join(visible_line(seat, 40) for seat in one.seats[:_SEATS])
    return seats + (f" + {len(one.seats) - _SEATS}" if len(one.seats) > _SEATS else "")


def _stages(found: "PanelWorth") -> Section:
    best = [one for one in found.stages if one.on_frontier]
    tried = Wording(
        "{n:,} choices tried; nothing is promised: jury calibrate --stages certifies",
        "{n:,}通りを試行。保証はありません（jury calibrate --stages で保証）",
        one="{n} choice tried; nothing is promised: jury calibrate --stages certifies",
    )
    figures = (
        Figure("early", Wording("ends there", "そこで終わる割合")),
        _value(found.frontier),
        _DECIDED,
        *_PRICE,
        Figure("votes", Wording("votes a case", "案件あたりの票数"), "hundredths"),
    )
    named = [(" + ".join(visible_line(seat, 40) for seat in one.seats), one) for one in best]
    none = Wording("none beats the choices above at its price", "同じ費用で上の組み合わせを上回るものはありません")
    shown: Block = table(named, figures, Wording("first", "最初")(), few=_POINTS) if best else Sentence(none())
    title = Wording(
        "Stages: a few seats first, the whole panel where they differ", "段階: まず数名、意見が分かれれば全員"
    )
    return Section("stages", "stages", title(), (Sentence(tried(n=len(found.stages))), shown))


def _early_stops(found: "PanelWorth") -> Section:
    how = Wording(
        "the verdict is that of all seats, always; seats of which no vote could change it are not asked",
        "判定は常に全員の場合と同じです。どの票でも判定が変わらない陪審員には尋ねません",
    )
    figures = (
        Figure("votes", Wording("seats asked a case", "案件あたりの質問数"), "hundredths"),
        Figure("saved", Wording("not asked", "尋ねない割合")),
    )
    named = [(one.order[-1], one) for one in found.early_stops]
    title = Wording(
        "Early stop (stop: settled), by majority vote of the first evaluations",
        "早期終了（stop: settled、最初の評価の多数決）",
    )
    shown = table(named, figures, Wording("asked last", "最後に尋ねる陪審員")(), few=_SEATS)
    return Section("early-stop", "early-stop", title(), (Sentence(how()), shown))
