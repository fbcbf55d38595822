"""What seats and rounds are worth, and what discussion changed, as sections."""

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
from typing import TYPE_CHECKING, Any

from jury_views.charts import heat_map
from jury_views.report_sections import crossed
from jury_views.statistics_words import ACCURACY, ALPHA_NOMINAL, ALPHA_ORDINAL, DEBATES, P_HOLM, RATERS, SHARE

if TYPE_CHECKING:
    from jury_analysis.discussion import DiscussionReport, DiscussionStep, JudgeAgainstVote, ReasoningReport
    from jury_analysis.statistics import PanelStatistics

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


_MOVING_SEATS = 10
"""Seats of which it is shown who moves whom."""

ROUNDS = (
    Figure("debates", DEBATES, "count"),
    Figure("votes", Wording("votes", "票"), "count"),
)
CONVERGENCE = (
    Figure("alpha_nominal", ALPHA_NOMINAL, "number"),
    Figure("alpha_ordinal", ALPHA_ORDINAL, "number"),
)
ROUNDS_RIGHT = (
    Figure("decided", DECIDED, "count"),
    Figure("right", Wording("plurality right", "相対多数が正解"), "count"),
    Figure("labelled", Wording("labelled", "ラベルあり"), "count"),
    Figure("accuracy", ACCURACY),
)
STEP = (
    Figure("changed", Wording("changed", "変更")),
    Figure("net_gain.wrong_to_right", Wording("wrong → right", "不正解 → 正解"), "count"),
    Figure("net_gain.right_to_wrong", Wording("right → wrong", "正解 → 不正解"), "count"),
    Figure("net_gain.gain", Wording("net gain", "正味の改善"), "signed"),
    Figure("net_gain.rate", Wording("net gain, share", "正味の改善（割合）")),
    Figure("net_gain.test.p_holm", P_HOLM, "p"),
    Figure("net_gain.abstentions", Wording("left out as abstentions", "棄権として除外"), "count"),
)
CONFORMITY = (
    Figure("opposed", Wording("opposed", "反対"), "count"),
    Figure("adopted", Wording("adopted", "同調"), "count"),
    Figure("rate", SHARE),
)
JUDGE = (
    Figure("follows", Wording("follows the plurality", "相対多数に従う")),
    Figure("overrules", Wording("overrules it", "覆す"), "count"),
    Figure("overrules_to_right", Wording("overrules it, to right", "覆して正解"), "count"),
    Figure("overrules_to_wrong", Wording("overrules it, to wrong", "覆して不正解"), "count"),
    Figure("decides_right", Wording("decides where it is undecided: right", "同数のとき判定: 正解"), "count"),
    Figure("decides_wrong", Wording("decides where it is undecided: wrong", "同数のとき判定: 不正解"), "count"),
)
_CONVERGENCE_HINT = Wording(
    "α after round 0 is convergence: the seats have read each other; it is no reliability",
    "ラウンド0より後のαは収束を示します。陪審員は互いの意見を読んでおり、信頼性の尺度ではありません",
)


UNDER_REASONING = (
    Figure("pairs", Wording("votes", "票"), "count"),
    Figure("changed", Wording("changed", "変更")),
    Figure("labelled", Wording("labelled", "ラベルあり"), "count"),
    Figure("became_right", Wording("became right", "正解になった"), "count"),
    Figure("no_longer_right", Wording("no longer right", "正解でなくなった"), "count"),
)
_ALL_SEATS = Wording("all seats", "全陪審員")


def reasoning_section(found: "ReasoningReport") -> Section:
    """What became of the first votes once the seats were shown the agent's reasoning."""
    basis = Wording(
        "{pairs:,} votes in {debates:,} debates without the agent's reasoning, then with it: a row for each first "
        "verdict, a column for each later one; the plurality of {panel:,} debates changed",
        "議論{debates:,}件の延べ{pairs:,}名が、エージェントの思考なしで判定し、見た後に改めて判定しました。"
        "行は最初の判定、列は後の判定です。相対多数は{panel:,}件で変わりました",
        one="{pairs} vote in {debates:,} debates without the agent's reasoning, then with it: a row for each first "
        "verdict, a column for each later one; the plurality of {panel:,} debates changed",
    )
    figures = UNDER_REASONING if found.all.labelled else UNDER_REASONING[:2]
    made = table([(one.seat or "", one) for one in found.seats], figures, SEAT())
    blocks = (
        Sentence(basis(pairs=found.all.pairs, debates=found.debates, panel=found.panel_changed)),
        crossed(
            Wording("before ↓  after →", "前 ↓  後 →")(), found.categories, found.categories, found.all.transitions
        ),
        made._replace(totals=table([(_ALL_SEATS(), found.all)], figures).rows),
    )
    title = Wording("The agent's reasoning, shown after the first votes", "最初の判定の後に示したエージェントの思考")
    return Section("reasoning", "reasoning", title(), blocks)


def discussion_sections(panel: "PanelStatistics", categories: tuple[str, ...]) -> Iterator[Section]:
    """Nothing but a line where there was no discussion."""
    found, title = panel.discussion, Wording("Discussion", "議論")()
    if not found.steps and found.judge is None:
        none = Wording("no round of discussion in these debates", "これらの議論に討議のラウンドはありません")
        yield Section("discussion", "rounds", title, (Sentence(none()),))
        return
    coefficients = {one.round: one for one in panel.convergence}
    rounds = tuple(
        (
            ReportCell(str(one.round)),
            *(figure.cell(one) for figure in ROUNDS),
            *(figure.cell(coefficients[one.round]) for figure in CONVERGENCE),
            *(figure.cell(one) for figure in ROUNDS_RIGHT),
        )
        for one in found.rounds
    )
    figures = (*ROUNDS, *CONVERGENCE, *ROUNDS_RIGHT)
    head = (Wording("round", "ラウンド")(), *(one.name for one in figures))
    yield Section("discussion", "rounds", title, (Table(head, rounds), Sentence(_CONVERGENCE_HINT())))
    for step in found.steps:
        yield _step(step, found, categories)
    if found.judge is not None:
        yield _judge(found.judge, categories)


def _step(step: "DiscussionStep", found: "DiscussionReport", categories: tuple[str, ...]) -> Section:
    pairs = Wording(
        "{n:,} positions: a row for each earlier one, a column for each later one",
        "立場{n:,}件。行は前の立場、列は後の立場です",
        one="{n} position: a row for each earlier one, a column for each later one",
    )
    corner = Wording("before ↓  after →", "前 ↓  後 →")()
    figures = STEP[:-1] if step.net_gain.abstentions == 0 else STEP
    blocks: list[Block] = [
        Sentence(pairs(n=step.pairs)),
        Chart("heat_map", lambda _lang: _transitions(step, categories)),
        crossed(corner, found.categories, found.categories, step.transitions),
        listed(step, figures if step.net_gain.pairs else STEP[:1], Wording("what it changed", "議論による変化")()),
    ]
    test = step.net_gain.test
    if step.net_gain.pairs:
        tests = Wording(
            "p corrected for {n:,} tests (Holm)",
            "p値は{n:,}個の検定に対するHolm補正済み",
            one="p of {n} test, which needs no correction",
        )
        blocks.append(Sentence(tests(n=found.tests) if test.reason is None else test.reason))
    conformity = [
        (RATERS["all"](), step.conformity),
        (Wording("peers right", "他の多数が正解")(), step.conformity_peers_right),
        (Wording("peers wrong", "他の多数が不正解")(), step.conformity_peers_wrong),
    ]
    corner = Wording("opposed seats that adopt the plurality of their peers", "反対から他の多数に同調")()
    blocks.append(table(conformity, CONFORMITY, corner))
    moves = step.moves
    if any(any(row) for row in moves.adopted) and len(moves.seats) <= _MOVING_SEATS:
        rows = tuple(
            (
                ReportCell(seat),
                *(ReportCell(f"{taken:,}/{other:,}" if other else "") for taken, other in zip(*of, strict=True)),
            )
            for seat, *of in zip(moves.seats, moves.adopted, moves.opposed, strict=True)
        )
        title = Wording("moved ↓  to the position of →", "変更した陪審員 ↓  同調した相手 →")()
        blocks.append(Table((title, *moves.seats), rows, title=title, folded=True))
    before = Wording("Discussion: round {before} → round {after}", "議論: ラウンド{before} → ラウンド{after}")
    title = before(before=step.from_round, after=step.to_round)
    return Section("discussion", f"step-{step.to_round}", title, tuple(blocks))


def _transitions(step: "DiscussionStep", categories: tuple[str, ...]) -> Any:
    """Each row is the part of an earlier position that each later position has."""
    cells = []
    for row in step.transitions:
        total = sum(row)
        cells.append([(count / total if total else None, str(count)) for count in row])
    return heat_map(cells, categories, categories)


def _judge(judge: "JudgeAgainstVote", categories: tuple[str, ...]) -> Section:
    undecided = Wording("undecided", "未決")
    corner = Wording("plurality ↓  judge →", "相対多数 ↓  最終判定者 →")
    title = Wording(
        "Final judge against the last vote: {n:,} debates",
        "最終判定者と最後の投票の比較: 議論{n:,}件",
        one="Final judge against the last vote: {n} debate",
    )
    blocks = (
        crossed(corner(), (*categories, undecided()), categories, judge.table),
        listed(judge, JUDGE, Wording("what the judge does", "最終判定者")()),
    )
    return Section("discussion", "judge", title(n=judge.debates), blocks)
