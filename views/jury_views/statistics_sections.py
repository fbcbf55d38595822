"""Statistics of a panel as sections: what each figure is called, and where it stands, for every reader."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from jury_analysis.wording import Reason, Wording
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_views.charts import heat_map, reliability_chart, stacked_bar
from jury_views.report_sections import (
    NOTHING,
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
    PANEL,
    RATERS,
    RIGHT,
    SEAT,
    SHARE,
    VALUE,
    by_rater,
    dots,
    rater,
    raters,
)
from jury_views.worth_sections import discussion_sections, reasoning_section

if TYPE_CHECKING:
    from jury_analysis.accuracy import AccuracyReport, AgainstLabels, EffectiveVotes, LevelReport
    from jury_analysis.agreement import Agreement, Repeats
    from jury_analysis.confidence import ConfidenceReport
    from jury_analysis.estimate import Estimate
    from jury_analysis.faults import FaultReport, MessageAgreement
    from jury_analysis.labels import AnnotatorReport
    from jury_analysis.quotation_shares import QuotationShares, ReadShares
    from jury_analysis.statistics import PanelStatistics, VerdictShare

STATISTICS_TABLES = ("agreement", "labels", "faults", "evidence", "confidence", "reasoning", "discussion", "shares")
"""The names of the tables that `jury stats` takes, in the order in which they are printed."""

MOST_SEATS = 12
"""Seats of an agreement matrix; larger panels have only the table of pairs."""

_PAIRS = 15
"""Pairs of seats that a terminal shows: those that agree least."""

_TWO_SEATS = Wording("two seats", "陪審員の組")
_EACH_TWO = Wording("each two seats", "陪審員の組ごと")
_RAW = Wording("raw agreement", "単純一致率")
_RIGHT_THEN = Wording("right then", "そのうち正解")
_N = Wording("n", "件数")


def statistics_sections(panel: "PanelStatistics", categories: tuple[str, ...]) -> Iterator[Section]:
    """What there is to say of a panel, by the groups of `STATISTICS_TABLES`."""
    yield _agreement(panel.agreement, panel.seats)
    if panel.self_agreement.cases:
        yield _repeats(panel.self_agreement)
    yield _labels(panel.against_labels, panel.effective_votes)
    for said, found in (
        (_levels, panel.levels),
        (_annotators, panel.annotators),
        (_faults, panel.faults),
        (_messages, panel.messages),
        (_items, panel.items),
        (_quotations, panel.quotations),
        (_reading, panel.reading),
    ):
        if found is not None:
            yield cast("Callable[[Any], Section]", said)(found)
    yield _confidence(panel.confidence)
    if panel.reasoning is not None:
        yield reasoning_section(panel.reasoning)
    yield from discussion_sections(panel, categories)
    yield _shares(panel.shares, panel.debates)


COEFFICIENTS = (
    Figure("alpha_nominal", Wording("Krippendorff's α, nominal", "クリッペンドルフのα（名義）"), "number"),
    Figure("alpha_ordinal", Wording("Krippendorff's α, ordinal", "クリッペンドルフのα（順序）"), "number"),
    Figure("alpha_scores", Wording("Krippendorff's α, scores", "クリッペンドルフのα（スコア）"), "number"),
    Figure("ac1", Wording("Gwet's AC1", "グウェットのAC1"), "number"),
    Figure("ac2", Wording("Gwet's AC2, ordinal", "グウェットのAC2（順序）"), "number"),
    Figure("fleiss", Wording("Fleiss' κ, complete debates", "フライスのκ（全員が投票した議論）"), "number"),
    Figure("raw", _RAW),
)
PAIRS = (
    Figure("raw", _RAW),
    Figure("kappa", Wording("κ", "コーエンのκ"), "number"),
    Figure("weighted_kappa", Wording("κ weighted", "重み付きκ"), "number"),
    Figure("raw.n", DEBATES, "count"),
)
ABSTENTIONS = (
    Figure("abstained", Wording("debates abstained", "棄権した議論"), "count"),
    Figure("rate", SHARE),
)
_CONSTANT = Wording("{seat} always says {verdict}", "{seat}は常に{verdict}と判定しています")
_AGREEMENT_HINT = Wording(
    "Of two seats: the share of debates in which they give the same first verdict.",
    "2名については、最初の判定が一致した議論の割合です。",
)


def _agreement(found: "Agreement", seats: tuple[str, ...]) -> Section:
    abstaining = [(one.seat, one) for one in found.abstentions if one.abstained]
    pairs = sorted(found.pairs, key=lambda one: (2.0 if one.kappa.value is None else one.kappa.value, one.seats))
    blocks: list[Block] = [
        *([_matrix(seats, found)] if 1 < len(seats) <= MOST_SEATS else []),
        listed(found, COEFFICIENTS, Wording("coefficient", "係数")(), VALUE(), DEBATES()),
    ]
    if pairs:
        named = [(" · ".join(one.seats), one) for one in pairs]
        blocks.append(table(named, PAIRS, _TWO_SEATS(), title=_EACH_TWO(), few=_PAIRS, folded=True))
    blocks.append(
        table(abstaining, ABSTENTIONS, SEAT(), title=Wording("abstentions", "棄権")(), folded=True)
        if abstaining
        else Sentence(Wording("no seat abstained", "棄権した陪審員はいません")())
    )
    blocks += [Sentence(_CONSTANT(seat=seat, verdict=verdict), notice=True) for seat, verdict in found.constant_seats]
    title = Wording("Agreement (first evaluations)", "議論前の陪審員間の一致")
    return Section("agreement", "agreement", title(), tuple(blocks))


def _matrix(seats: tuple[str, ...], agreement: "Agreement") -> Chart:
    figures: dict[tuple[str, ...], Estimate] = {}
    for pair in agreement.pairs:
        figures[pair.seats] = figures[pair.seats[::-1]] = pair.raw
    cells = []
    for row in seats:
        values = [figures[row, column].value if row != column else None for column in seats]
        cells.append([(value, "" if value is None else f"{value:.0%}") for value in values])
    names = [f"{n} {seat}" for n, seat in enumerate(seats, 1)], [str(n + 1) for n in range(len(seats))]
    return Chart("heat_map", lambda _lang: heat_map(cells, *names), _AGREEMENT_HINT())


REPEATS = (
    Figure("raw", _RAW),
    Figure("alpha_nominal", ALPHA_NOMINAL, "number"),
    Figure("alpha_ordinal", ALPHA_ORDINAL, "number"),
    Figure("ac1", Wording("AC1", "AC1"), "number"),
)


def _repeats(found: "Repeats") -> Section:
    basis = Wording(
        "{n:,} cases judged more than once, at most {most} times",
        "2回以上判定された{n:,}ケース（最大{most}回）",
        one="{n} case judged more than once, at most {most} times",
    )
    rows = [(PANEL() if one.seat == "panel" else one.seat, one) for one in (found.panel, *found.seats)]
    blocks = (Sentence(basis(n=found.cases, most=found.largest)), table(rows, REPEATS))
    return Section("agreement", "repeats", Wording("Self-agreement (repeats)", "自己一致（繰り返し）")(), blocks)


def _false(categories: tuple[str, ...]) -> tuple[Figure, Figure]:
    """Verdicts at one end where the label is at the other."""
    if categories == tuple(Verdict):
        passes, fails = _FALSE_PASSES(), _FALSE_FAILS()
    else:
        passes, fails = (_FALSE(verdict=visible_line(end, 30)) for end in (categories[0], categories[-1]))
    return (
        Figure("false_pass_rate", passes, "share", "false_passes"),
        Figure("false_fail_rate", fails, "share", "false_fails"),
    )


_FALSE_PASSES = Wording("false passes", "誤った合格")
_FALSE_FAILS = Wording("false fails", "誤った不合格")
_FALSE = Wording("false {verdict}", "誤った{verdict}")
AGAINST_LABELS = (
    Figure("accuracy", ACCURACY),
    Figure("coverage", Wording("coverage", "判定した割合")),
    Figure("accuracy_of_decided", Wording("of decided", "判定したうちの正解率")),
)
KAPPA = Figure("kappa", Wording("κ", "コーエンのκ"), "number")
_NO_LABELS = Wording(
    "no debate has a label: jury stats --labels FILE names them",
    "ラベルのある議論はありません（jury stats --labels FILE で指定できます）",
)
_LABELLED = Wording(
    "{n:,} debates with a label, {without:,} without",
    "ラベルのある議論{n:,}件、ない議論{without:,}件",
    one="{n} debate with a label, {without:,} without",
)
_ABSTAINING = Wording(
    "no label is {verdict}: this verdict counts as an abstention, and coverage is the share of the other verdicts",
    "{verdict}というラベルはないため、この判定は棄権として数えます。判定した割合は、その他の判定の割合です",
)
_EFFECTIVE_MORE = Wording(
    "more effective votes than seats: errors are negatively correlated, so the seats correct each other more than "
    "independent ones would",
    "実効票数が陪審員数を上回っています。誤りに負の相関があり、独立な場合よりも互いを補っています",
)


def _labels(found: "AccuracyReport", votes: "EffectiveVotes") -> Section:
    title = Wording("Against labels", "ラベルとの比較")()
    if not found.labelled:
        return Section("labels", "labels", title, (Sentence(_NO_LABELS()),))
    totals = tuple(filter(None, (found.panel, found.jury)))
    every = (*found.seats, *totals)
    blocks: list[Block] = [Sentence(_LABELLED(n=found.labelled, without=found.unlabelled))]
    if found.abstaining is not None:
        blocks.append(Sentence(_ABSTAINING(verdict=found.abstaining)))
    blocks += [
        dots((rater(one), one.accuracy) for one in every[-100:]),
        by_rater(found.seats, totals, (*AGAINST_LABELS, *_false(found.categories), KAPPA)),
        *(_confusion(one, found.categories) for one in totals),
        _votes_worth(votes),
    ]
    if votes.effective.value is not None and votes.effective.value > votes.seats:
        blocks.append(Sentence(_EFFECTIVE_MORE()))
    return Section("labels", "labels", title, tuple(blocks))


def _confusion(one: "AgainstLabels", categories: tuple[str, ...]) -> Table:
    corner = Wording("label ↓  {rater} →", "ラベル ↓  {rater} →")(rater=RATERS[one.rater]())
    none = Wording("none", "なし")
    made = crossed(corner, categories, (*categories, none()), one.confusion)
    return made._replace(
        title=Wording("Verdicts by label: {rater}", "ラベルごとの判定: {rater}")(rater=rater(one)), folded=True
    )


_EFFECTIVE = Wording("effective votes, of {seats}", "実効票数（{seats}票中）")
_MAJORITY = Wording(
    "majority, {n:,} complete debates", "多数決（全員が投票した議論{n:,}件）", one="majority, {n} complete debate"
)
_BEST_SEAT = Wording("best seat", "最良の陪審員")
_NAMED_BEST_SEAT = Wording("best seat: {seats}", "最良の陪審員: {seats}")


def _votes_worth(votes: "EffectiveVotes") -> Table:
    best = ", ".join(visible_line(seat, 60) for seat in votes.best_seats)
    figures = (
        Figure("effective", _EFFECTIVE(seats=votes.seats), "number"),
        Figure("mean_phi", Wording("correlation of errors, mean φ", "誤りの相関（φの平均）"), "number"),
        Figure("majority_accuracy", _MAJORITY(n=votes.complete)),
        Figure("accuracy_if_independent", Wording("if errors were independent", "誤りが独立な場合")),
        Figure("best_seat_accuracy", _NAMED_BEST_SEAT(seats=best) if best else _BEST_SEAT),
    )
    return listed(votes, figures, Wording("what the votes are worth", "票の価値")(), VALUE())


LEVELS = (
    Figure("mean", Wording("mean level", "平均段階"), "number"),
    Figure("difference", Wording("difference to the label", "ラベルとの差"), "number"),
    Figure("distance", Wording("distance", "ラベルとの差の絶対値"), "number"),
    Figure("within_one", Wording("within one", "差が1以内")),
)
_LEVELS_HINT = Wording(
    "Levels as numbers, before discussion; above zero the difference is milder than people.",
    "段階を数値として扱います（議論前）。差が正であれば、人より甘い評価です。",
)
_MEAN_OF_VOTES = Wording("panel (mean of the votes)", "陪審団（票の平均）")


def _levels(found: "LevelReport") -> Section:
    title = Wording("Levels ({lowest} to {highest})", "段階（{lowest}〜{highest}）")
    totals = [(_MEAN_OF_VOTES(), found.panel), *raters([] if found.jury is None else [found.jury])]
    rows = table(totals, LEVELS).rows
    if found.labels is not None:
        rows += (
            (ReportCell(rater(found.labels)), LEVELS[0].cell(found.labels), *[ReportCell("")] * (len(LEVELS) - 1)),
        )
    made = table(raters(found.seats), LEVELS, SEAT())._replace(totals=rows)
    return Section(
        "labels", "levels", title(lowest=found.lowest, highest=found.highest), (Sentence(_LEVELS_HINT()), made)
    )


TESTS = (
    Figure("winning_rate", Wording("ω", "ω"), "number"),
    Figure("advantage", Wording("ρ", "ρ"), "number"),
)


def _annotators(found: "AnnotatorReport") -> Section:
    basis = Wording(
        "{annotators:,} annotators; {several:,} of {cases:,} cases have two or more",
        "アノテーター{annotators:,}名。2名以上が付けたのは{cases:,}ケース中{several:,}ケース",
    )
    ceiling = Figure("agreement", Wording("agreement of the annotators, the ceiling", "アノテーター間の一致（上限）"))
    passes = {True: Wording("yes", "はい")(), False: Wording("no", "いいえ")(), None: NOTHING}
    rows = [
        (
            ReportCell(RATERS[one.rater]() if one.seat is None else one.seat),
            *(figure.cell(one) for figure in TESTS),
            ReportCell(passes[one.passes]),
            ReportCell(f"{one.epsilon:g}"),
        )
        for one in found.tests
    ]
    head = (
        Wording("alternative-annotator test", "代替アノテーター検定")(),
        *(one.name for one in TESTS),
        Wording("passes", "合格")(),
        "ε",
    )
    several = basis(annotators=len(found.annotators), several=found.cases_of_several, cases=found.cases)
    blocks = (Sentence(several), listed(found, (ceiling,), "", VALUE()), Table(head, tuple(rows)))
    return Section("labels", "annotators", Wording("Annotators", "アノテーター")(), blocks)


FAULTS = (
    Figure("found", Wording("found", "発見")),
    Figure("silent_found", Wording("silent ones", "結果が正しい誤り")),
    Figure("false_alarms", Wording("false alarms", "誤報")),
    Figure("message_exact", Wording("message exact", "箇所が一致")),
    Figure("message_within_one", Wording("within one", "前後1つ以内")),
    Figure("message_exact_of_all", Wording("found and exact", "発見かつ一致")),
)
_FAULTS_BASIS = Wording(
    "{n:,} debates with a fault: {silent:,} with a correct outcome (silent), {loud:,} with a wrong one, {messages:,} "
    "with a message that the label names; {sound:,} without a fault",
    "誤りのある議論{n:,}件（結果は正しい{silent:,}件、結果も誤り{loud:,}件、ラベルが箇所を示す{messages:,}件）、"
    "誤りのない議論{sound:,}件",
    one="{n} debate with a fault: {silent:,} with a correct outcome (silent), {loud:,} with a wrong one, {messages:,} "
    "with a message that the label names; {sound:,} without a fault",
)


def _faults(found: "FaultReport") -> Section:
    basis = _FAULTS_BASIS(
        n=found.faults, silent=found.silent, loud=found.loud, messages=found.messages, sound=found.sound
    )
    made = by_rater(found.seats, [found.panel], FAULTS)
    title = Wording("Faults against labels (first evaluations)", "ラベルと比べた誤りの発見（最初の判定）")
    return Section("faults", "faults", title(), (Sentence(basis), made))


NAMED = (
    Figure("one_message", Wording("all seats that name one name the same", "箇所を挙げた全員が同じ")),
    Figure("raw", Wording("pairs that name the same", "同じ箇所を挙げた組")),
    Figure("corrected", Wording("corrected for chance", "偶然を補正"), "number"),
)
NAMED_RIGHT = (
    Figure("plurality_right", Wording("right where a plurality names it", "相対多数が挙げた箇所の正解率")),
    Figure("majority_right", Wording("right where more than half name it", "過半数が挙げた箇所の正解率")),
)
NAMED_PAIRS = (
    Figure("same", Wording("name the same", "同じ箇所")),
    Figure("same.n", DEBATES, "count"),
)
NAMED_PAIRS_RIGHT = (Figure("right", _RIGHT_THEN), Figure("right.n", DEBATES, "count"))
_WHERE_HINT = Wording(
    "Of debates in which two seats or more name one. An item of the prompt is read as the message of the source that "
    "it comes from.",
    "2名以上が箇所を挙げた議論についての値です。プロンプトの項目は、元のメッセージとして数えます。",
)


def _messages(found: "MessageAgreement") -> Section:
    title = Wording("The message that went wrong (first evaluations)", "最初に誤りが起きたメッセージ（最初の判定）")
    return _where(found, "messages", title(), (*NAMED, *NAMED_RIGHT), (*NAMED_PAIRS, *NAMED_PAIRS_RIGHT))


def _items(found: "MessageAgreement") -> Section:
    """Labels name messages alone, so that of items nothing is said of what is right."""
    title = Wording("The item that went wrong (first evaluations)", "最初に誤りが起きた項目（最初の判定）")
    return _where(found, "items", title(), NAMED, NAMED_PAIRS)


def _where(
    found: "MessageAgreement", key: str, title: Reason, figures: Sequence[Figure], of_pairs: Sequence[Figure]
) -> Section:
    blocks: list[Block] = [Sentence(_WHERE_HINT()), listed(found, figures, "", VALUE(), DEBATES())]
    if found.pairs:
        pairs = sorted(found.pairs, key=lambda pair: (pair.same.value or 0.0, pair.seats))
        named = [(" · ".join(one.seats), one) for one in pairs]
        blocks.append(table(named, of_pairs, _TWO_SEATS(), title=_EACH_TWO(), few=_PAIRS, folded=True))
    return Section("faults", key, title, tuple(blocks))


QUOTED = (
    Figure("quotations", Wording("quotations", "引用"), "count"),
    Figure("verified", Wording("verified", "一致")),
    Figure("normalised", Wording("normalised", "空白・大文字小文字を除き一致")),
    Figure("elsewhere", Wording("elsewhere", "別の項目にある")),
    Figure("not_found", Wording("not found", "見つからない")),
    Figure("failing", Wording("fails", "不合格"), "count"),
    Figure("unsupported", Wording("fails without support", "裏付けのない不合格")),
)
_QUOTATIONS_BASIS = Wording(
    "{quotations} in {evaluations} that were asked for evidence",
    "証拠を求められた{evaluations}の{quotations}",
)


def _quotations(found: "QuotationShares") -> Section:
    basis = _QUOTATIONS_BASIS(
        quotations=Wording("{n:,} quotations", "引用{n:,}件", one="{n} quotation")(n=found.all.quotations),
        evaluations=Wording("{n:,} evaluations", "評価{n:,}件", one="{n} evaluation")(n=found.all.evaluations),
    )
    made = by_rater(found.seats, filter(None, (found.judge, found.all)), QUOTED)
    title = Wording("Quotations (all rounds)", "引用は示された箇所にあるか（全ラウンド）")
    return Section("evidence", "quotations", title(), (Sentence(basis), made))


READING = (
    Figure("votes", Wording("votes", "票"), "count"),
    Figure("partly_read", Wording("not on the whole record", "記録の一部だけに基づく票")),
    Figure("mean_share", Wording("mean share read", "読んだ割合の平均")),
)
READING_RIGHT = (
    Figure("accuracy_of_whole", Wording("right with the whole record", "全体に基づく票の正解率")),
    Figure("accuracy_of_partly_read", Wording("right with less", "一部だけに基づく票の正解率")),
)
_READING_HINT = Wording(
    "The part of the record that the votes rest on, read in one call or in parts.",
    "票が記録のどれだけに基づくかを示します（一度に読んだ場合も、分割して読んだ場合も含みます）。",
)


def _reading(found: "ReadShares") -> Section:
    figures = (*READING, *(READING_RIGHT if found.all.labelled else ()))
    made = by_rater(found.seats, [found.all], figures)
    title = Wording("How much was read (first evaluations)", "記録を読んだ割合（最初の判定）")
    return Section("evidence", "reading", title(), (Sentence(_READING_HINT()), made))


CURVES = (
    Figure("n", _N, "count"),
    Figure("accuracy", ACCURACY),
    Figure("mean_confidence", Wording("mean confidence", "平均確信度")),
    Figure("ece", Wording("ECE", "ECE"), "number"),
    Figure("brier", Wording("Brier", "Brier"), "number"),
    Figure("auroc", Wording("AUROC", "AUROC"), "number"),
)
BINS = (
    Figure("n", _N, "count"),
    Figure("right", RIGHT, "count"),
    Figure("mean_confidence", Wording("mean confidence", "平均確信度")),
    Figure("rate", Wording("share right", "正解の割合")),
)
_CONFIDENCES = {
    "vote share": Wording("vote share", "得票率"),
    "stated": Wording("stated", "本人の申告"),
    "score": Wording("score", "スコア"),
}
_ALL_CONFIDENCES = Wording("All confidences", "すべての確信度")
_CURVE_HINT = Wording(
    "Confidence (across) and share of right verdicts (up), with 95 % intervals; number of debates below.",
    "横軸は確信度、縦軸は正しい判定の割合（95%信頼区間付き）、下は議論の件数です。",
)


def _confidence(found: "ConfidenceReport") -> Section:
    title = Wording("Confidence", "確信度の高い判定は正しいか")()
    curves = [curve for curve in found.curves if curve.n]
    if not curves:
        none = Wording(
            "no labelled debate has a verdict with a confidence", "確信度のある判定とラベルの両方がある議論はありません"
        )
        return Section("confidence", "confidence", title, (Sentence(none()),))
    first = curves[0]
    of = Wording("{confidence}: {rater}", "{confidence}: {rater}")
    named = [(of(confidence=_CONFIDENCES[one.confidence](), rater=rater(one)), one) for one in curves]
    bins = [(f"{one.low:.1f}–{one.high:.1f}", one) for one in first.bins if one.n]
    blocks = (
        Chart("reliability_chart", lambda _lang: reliability_chart(first.bins), _CURVE_HINT()),
        table(named, CURVES, Wording("confidence of", "確信度の種類")(), title=_ALL_CONFIDENCES()),
        table(bins, BINS, named[0][0], title=named[0][0]),
    )
    return Section("confidence", "confidence", title, blocks)


SHARES = (
    Figure("count", DEBATES, "count"),
    Figure("raw", SHARE),
    Figure("labelled", Wording("of the labels", "ラベルの割合")),
    Figure("corrected", Wording("corrected", "補正後")),
)


def _shares(found: "Sequence[VerdictShare]", debates: int) -> Section:
    counts = {one.verdict: one.count for one in found}
    counts["open"] = debates - sum(counts.values())
    made = table([(one.verdict, one) for one in found], SHARES, Wording("verdict", "判定")())
    blocks = (
        Chart("bar", lambda _lang: stacked_bar(counts)),
        dots((one.verdict, one.raw) for one in found),
        made._replace(rows=tuple((ReportCell(row[0].value, "verdict"), *row[1:]) for row in made.rows)),
    )
    return Section("shares", "shares", Wording("Shares", "判定の割合")(), blocks)
