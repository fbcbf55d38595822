"""What discussion changed, as sections: rounds, each step, and the final judge."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jury_analysis.wording import Wording
from jury_views.charts import heat_map
from jury_views.report_sections import (
    Block,
    Chart,
    Figure,
    ReportCell,
    Section,
    Sentence,
    Table,
    crossed,
    listed,
    table,
)
from jury_views.statistics_words import (
    ACCURACY,
    ALPHA_NOMINAL,
    ALPHA_ORDINAL,
    DEBATES,
    DECIDED,
    P_HOLM,
    RATERS,
    SEAT,
    SHARE,
)

if TYPE_CHECKING:
    from jury_analysis.discussion import DiscussionReport, DiscussionStep, JudgeAgainstVote, ReasoningReport
    from jury_analysis.statistics import PanelStatistics

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
