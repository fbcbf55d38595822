"""A calibration, of one panel or of a ladder of stages, as sections: what is promised, what was tried, what it does."""

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from jury_analysis.wording import Wording
from jury_views.report_sections import Block, ReportCell, Section, Sentence, Table, Words
from jury_views.statistics_words import left_out

if TYPE_CHECKING:
    from jury_analysis.calibration import CalibrationReport, PartReport
    from jury_analysis.certificate import Certificate
    from jury_analysis.ladder_promises import Promises
    from jury_analysis.ladder_report import LadderReport, ReportedStage
    from jury_analysis.ladder_use import LadderUse

_TITLE = Wording("Calibration", "較正")
_LADDER = Wording("Ladder of stages", "段階的評価")
_PANEL = Wording("panel: {panel}", "パネル: {panel}")
_MADE_OF = Wording("verdict: {verdict}; signal: {signal}", "判定: {verdict}。信号: {signal}")
_SIGNALS = {
    "share": Wording("share of the votes", "票の割合"),
    "isotonic": Wording(
        "chance by isotonic regression on the share of the votes", "票の割合に対する単調回帰による確率"
    ),
    "weights": Wording("chance by learned weights", "学習した重みによる確率"),
    "dawid_skene": Wording("posterior chance by Dawid and Skene", "Dawid・Skeneの事後確率"),
    "probability": Wording("mean probability of the verdict", "判定の平均確率"),
    "votes+step": Wording("agreement on the verdict and the decisive {step}", "判定と決め手の{step}の一致"),
}
_WRONG = {"error": Wording("wrong", "誤り"), "false_pass": Wording("false passes", "誤った合格")}
_VERDICTS = {
    "jury": Wording("final verdicts of the jury", "陪審団の最終判定"),
    "plurality": Wording("strict plurality of the seats", "陪審員の相対多数（同数を除く）"),
}
_PARTS = Wording("parts: {parts}", "区分: {parts}")
_PART = Wording(
    "{name} {labels:,} labels in {clusters:,} clusters", "{name} ラベル{labels:,}件（クラスター{clusters:,}件）"
)
_DRAWN = Wording("{parts} (drawn by cluster with seed {seed})", "{parts}（シード{seed}でクラスター単位に抽出）")
_PROMISE = Wording(
    "At most {risk:.6g} {wrong}, with confidence {confidence:.6g} ({bound})",
    "{wrong}は最大{risk:.6g}、信頼度{confidence:.6g}（{bound}）",
)
_THRESHOLD = Wording("threshold", "閾値")
_ACCEPTED = Wording("accepted", "受理")
_BOUND = Wording("upper bound", "上限")
_OUTCOME = Wording("outcome", "結果")
_ACCEPTS = Wording(
    "threshold {threshold:.6g}: accepts {coverage:.1%} of {units:,} cases",
    "閾値{threshold:.6g}: {units:,}件のうち{coverage:.1%}を受理",
)
_NO_THRESHOLD = Wording("no threshold: {reason}", "閾値なし: {reason}")
_NEEDED = Wording(
    "about {labels:,} labels in {clusters:,} clusters would do, if errors stay as rare",
    "誤りの割合が同じなら、クラスター{clusters:,}件、ラベル約{labels:,}件で足ります",
)
_ON_STEP = Wording(
    "accepted: verdicts on whose step {agree} of {seats} seats agree, or more; no {passing}",
    "受理: {seats}人中{agree}人以上が段階で一致した判定。{passing}は受理しません",
)
_ON_VOTES = Wording(
    "accepted: verdicts on whose step two seats agree, or more; {passing} with {votes} of {seats} votes, or more",
    "受理: 2人以上が段階で一致した判定と、{seats}票中{votes}票以上の{passing}",
)
_ON_TEST = Wording("On the test part", "テスト部分")
_ON_OWN = Wording("On the cases that it was certified on", "認証に使ったケース")
_FIGURE = Wording("figure", "指標")
_OF = Wording("{count:,} of {units:,}", "{units:,}件中{count:,}件")
_WRONG_OF_THESE = Wording("of these {wrong}", "そのうち{wrong}")
_ACCURACY = Wording("accuracy of all verdicts, accepted or not", "受理しない判定も含む正解率")
_BESIDE = Wording("Beside the votes alone, for the same promise", "同じ保証での、票だけの場合との比較")
_SIGNAL = Wording("signal", "信号")
_VOTES_ALONE = Wording("votes alone", "票のみ")
_TESTED = Wording("on the test part: accepted", "テスト部分: 受理")
_NONE = Wording("none", "なし")
_PROMISED = Wording(
    "promised, all with confidence {confidence:g}: {said}", "保証（いずれも信頼度{confidence:g}）: {said}"
)
_AT_MOST = Wording("at most {risk:g} of the accepted {name} are wrong", "受理した{name}の誤りは最大{risk:g}")
_PASSES, _FAILS = Wording("passes", "合格"), Wording("fails", "不合格")
_PASS, _FAIL = Wording("pass", "合格"), Wording("fail", "不合格")
_MISSED = Wording(
    "at most {risk:g} of the failing cases pass before the last stage",
    "最終段階より前に合格する不合格ケースは最大{risk:g}",
)
_CERTIFIED = Wording(
    "certified on {labels:,} labels in {clusters:,} clusters, of which {failing:,} fail",
    "ラベル{labels:,}件（クラスター{clusters:,}件、うち不合格{failing:,}件）で認証",
)
_STAGE = Wording("Stage {number}: {name}, {verdict}", "段階{number}: {name}、{verdict}")
_LAST = Wording(
    "the last stage: what it says stands, and nothing is promised of it", "最終段階: その判定が確定し、保証はありません"
)
_UNPROMISED = Wording(
    "no {outcome} is accepted: nothing is promised of it (--risk {word}=…)",
    "{outcome}は受理しません: 保証がありません（--risk {word}=…）",
)
_REFUSED = Wording("no {outcome} is accepted: {reason}", "{outcome}は受理しません: {reason}")
_FROM = Wording(
    "a {outcome} is accepted from the share {threshold:.6g} of the votes on",
    "{outcome}は票の割合{threshold:.6g}以上で受理",
)
_TOO_MANY = Wording("too many failures could be missed", "見逃す不合格が多すぎる可能性があります")
_EACH = Wording("each bound has the confidence {confidence:.6g}: {said}", "各上限の信頼度は{confidence:.6g}: {said}")
_OF_STAGES = Wording("{promises} of {stages}", "{stages}の{promises}")
_PROMISES = Wording("{n:,} promises", "保証{n:,}個", one="{n} promise")
_EARLY_STAGES = Wording("{n:,} early stages", "前段階{n:,}個", one="{n} early stage")
_COMBINED = Wording("{said}, {n:,} combinations of earlier thresholds", "{said}、前の閾値の組合せ{n:,}通り")
_REASON = Wording("{reason}; {more}", "{reason}。{more}")
_STAGES = (
    Wording("stage", "段階"),
    Wording("reached", "到達"),
    Wording("ends here", "ここで終了"),
    _PASSES,
    _WRONG["error"],
    _FAILS,
    _WRONG["error"],
)
_LADDER_ALONE = Wording("of the last stage alone", "最終段階のみ")
_EARLY = Wording("ends before the last stage", "最終段階より前に終了")
_MISSED_SHARE = Wording("failing cases that pass early (missed)", "早く合格する不合格ケース（見逃し）")
_RIGHT = Wording("accuracy", "正解率")
_A_CASE = {
    "calls": Wording("calls a case", "1件あたりの呼び出し"),
    "votes": Wording("votes a case", "1件あたりの票"),
    "dollars": Wording("dollars a case", "1件あたりのドル"),
}
_MORE = Wording("the ladder takes more than its last stage alone", "段階的評価のほうが最終段階のみより多くかかります")
_NO_COST = Wording("dollars a case: not known, because votes lack their cost", "1件あたりのドル: 票の費用がなく不明")


def calibration_sections(report: "CalibrationReport", panel: str | None) -> list[Section]:
    """What is promised, the thresholds that were tried, and what the chosen one does on the test part.

    Args:
        report: the calibration.
        panel: names the panel that it is of; None: unknown.
    """
    found = [
        _section("calibration", _TITLE(), *_made_of(report, panel)),
        _section("thresholds", _promise(report), *_thresholds(report)),
    ]
    if report.test is not None:
        found.append(_section("test", _ON_TEST(), _tested(report, report.test)))
    if (alone := report.votes_alone) is not None:
        rows = (
            _compared("votes+step", report.certificate, report.test),
            _compared(_VOTES_ALONE(), alone.certificate, alone.test),
        )
        wrong = _WRONG["error"]()
        head = (_SIGNAL(), _THRESHOLD(), _ACCEPTED(), wrong, _BOUND(), _TESTED(), wrong)
        width = len(head) if report.test or alone.test else len(head) - 2
        found.append(_section("votes-alone", _BESIDE(), Table(head[:width], tuple(row[:width] for row in rows))))
    return found


def _section(key: str, title: Words, *blocks: Block) -> Section:
    return Section("calibration", key, title, blocks)


def _made_of(report: "CalibrationReport", panel: str | None) -> Iterator[Sentence]:
    yield from left_out(report.excluded)
    if panel is not None:
        yield Sentence(_PANEL(panel=panel))
    step = getattr(report.signal, "step", None)
    signal = _SIGNALS[report.signal.kind]
    yield Sentence(_MADE_OF(verdict=_VERDICTS[report.verdict](), signal=signal(step=step) if step else signal()))
    parts = ", ".join(
        _PART(name=name, labels=part.labelled, clusters=part.clusters) for name, part in report.parts.items()
    )
    said = _PARTS(parts=parts)
    yield Sentence(said if report.seed is None else _DRAWN(parts=said, seed=report.seed))


def _promise(report: "CalibrationReport") -> Words:
    of = report.certificate
    return _PROMISE(risk=of.risk, wrong=_WRONG[report.on](), confidence=of.confidence, bound=of.bound)


def _thresholds(report: "CalibrationReport") -> Iterator[Block]:
    of = report.certificate
    yield Table(
        (_THRESHOLD(), _ACCEPTED(), _WRONG["error"](), _BOUND(), _OUTCOME()),
        tuple(_tried(one.threshold, one.accepted, one.wrong, one.upper_bound, one.outcome) for one in of.candidates),
    )
    if of.threshold is not None and of.coverage is not None:
        yield Sentence(_ACCEPTS(threshold=of.threshold, coverage=of.coverage, units=of.units))
        if report.signal.kind == "votes+step":
            yield Sentence(_accepts(of.threshold, len(report.seats), report.signal.passing))
        return
    yield Sentence(_NO_THRESHOLD(reason=of.reason or ""))
    if (needed := _needed(of)) is not None:
        yield Sentence(needed)


def _tried(threshold: float, counted: int, wrong: int, bound: float, decided: str) -> tuple[ReportCell, ...]:
    return (
        ReportCell(threshold, "digits"),
        ReportCell(counted, "count"),
        ReportCell(wrong, "count"),
        ReportCell(bound, "bound"),
        ReportCell(decided, "whole"),
    )


def _needed(of: "Certificate") -> Words | None:
    """How many labels more would do; None: not known."""
    if of.labels_needed is None:
        return None
    return _NEEDED(labels=of.labels_needed, clusters=ceil(of.labels_needed * of.clusters / of.units))


def _accepts(threshold: float, seats: int, passing: str) -> Words:
    """What a threshold of agreement on votes and steps accepts; see `VotesStepSignal`."""
    steps = round(threshold * 2 * seats)
    if steps > seats:
        return _ON_STEP(agree=steps - seats, seats=seats, passing=passing)
    return _ON_VOTES(passing=passing, votes=steps, seats=seats)


def _tested(report: "CalibrationReport", test: "PartReport") -> Table:
    accepted = _OF(count=test.accepted, units=test.units)
    return Table(
        (_FIGURE(), "", ""),
        (
            (ReportCell(_ACCEPTED()), ReportCell(accepted), ReportCell(test.coverage, "share")),
            (
                ReportCell(_WRONG_OF_THESE(wrong=_WRONG[report.on]())),
                ReportCell(test.wrong, "count"),
                ReportCell(test.risk, "share"),
            ),
            (ReportCell(_ACCURACY()), ReportCell(""), ReportCell(test.accuracy, "share")),
        ),
    )


def _compared(name: Words, of: "Certificate", test: "PartReport | None") -> tuple[ReportCell, ...]:
    """A row of the comparison; without a threshold nothing is accepted."""
    chosen = next((one for one in of.candidates if one.threshold == of.threshold), None)
    if chosen is None:
        said: tuple[Words, ...] = (name, _NONE(), _OF(count=0, units=of.units), "", "", "", "")
        return tuple(map(ReportCell, said))
    tested = ("", "") if test is None else (_OF(count=test.accepted, units=test.units), f"{test.wrong:,}")
    return (
        ReportCell(name),
        ReportCell(chosen.threshold, "digits"),
        ReportCell(_OF(count=chosen.accepted, units=of.units)),
        ReportCell(chosen.wrong, "count"),
        ReportCell(chosen.upper_bound, "bound"),
        *map(ReportCell, tested),
    )


def ladder_sections(report: "LadderReport") -> list[Section]:
    """What is promised, the thresholds that were tried at each stage, and what the ladder does."""
    head = (
        *left_out(report.excluded),
        Sentence(_PROMISED(confidence=report.promises.confidence, said=_promised(report.promises))),
        Sentence(_CERTIFIED(labels=report.units, clusters=report.clusters, failing=report.failing)),
    )
    stages = (_stage(number, stage, report) for number, stage in enumerate(report.stages, 1))
    return [_section("ladder", _LADDER(), *head), *stages, _use(report.use)]


def _promised(promises: "Promises") -> str:
    said: list[str] = [
        _AT_MOST(risk=risk, name=name())
        for name, risk in ((_PASSES, promises.passes), (_FAILS, promises.fails))
        if risk is not None
    ]
    if promises.missed is not None:
        said.append(_MISSED(risk=promises.missed))
    return "; ".join(said)


def _stage(number: int, stage: "ReportedStage", report: "LadderReport") -> Section:
    name = stage.name if stage.name.count(",") + 1 == len(stage.seats) else f"{stage.name} ({', '.join(stage.seats)})"
    title = _STAGE(number=number, name=name, verdict=_VERDICTS[stage.verdict]())
    return _section(f"stage-{number}", title, *_certified(stage, report))


def _certified(stage: "ReportedStage", report: "LadderReport") -> Iterator[Block]:
    of = stage.certificate
    if of is None:
        yield Sentence(_LAST())
        return
    outcomes = (("pass", _PASS, of.passes, of.pass_threshold), ("fail", _FAIL, of.fails, of.fail_threshold))
    rows = [
        (ReportCell(name()), *_tried(one.threshold, one.accepted, one.wrong, one.upper_bound, one.outcome))
        for _word, name, certificate, _threshold in outcomes
        for one in (() if certificate is None else certificate.candidates)
    ]
    rows += [
        (
            ReportCell(Wording("missed", "見逃し")()),
            *_tried(one.threshold, one.failing, one.missed, one.upper_bound, one.outcome),
        )
        for one in of.missed
    ]
    yield Table((_OUTCOME(), _THRESHOLD(), _ACCEPTED(), _WRONG["error"](), _BOUND(), ""), tuple(rows))
    for word, name, certificate, threshold in outcomes:
        if certificate is None:
            yield Sentence(_UNPROMISED(outcome=name(), word=word))
        elif threshold is None:
            yield Sentence(_REFUSED(outcome=name(), reason=_refusal(certificate)))
        else:
            yield Sentence(_FROM(outcome=name(), threshold=threshold))
    said = _OF_STAGES(promises=_PROMISES(n=report.promises.number), stages=_EARLY_STAGES(n=len(report.stages) - 1))
    if of.combinations > 1:
        said = _COMBINED(said=said, n=of.combinations)
    yield Sentence(
        _EACH(confidence=next(one.confidence for one in (of.passes, of.fails) if one is not None), said=said)
    )


def _refusal(of: "Certificate") -> Words:
    """Why, and what more labels would buy."""
    if of.threshold is not None:
        return _TOO_MANY()
    needed = _needed(of)
    return of.reason or "" if needed is None else _REASON(reason=of.reason or "", more=needed)


def _use(use: "LadderUse") -> Section:
    stages = Table(
        tuple(one() for one in _STAGES),
        tuple(
            (
                ReportCell(str(number)),
                ReportCell(one.reached, "count"),
                ReportCell(one.coverage, "share"),
                *(ReportCell(count, "count") for count in (one.passes, one.wrong_passes, one.fails, one.wrong_fails)),
            )
            for number, one in enumerate(use.stages, 1)
        ),
    )
    a_case = "calls" if use.calls_known else "votes"
    rows = [
        (_EARLY, ReportCell(use.early, "share", use.units), ""),
        (_MISSED_SHARE, ReportCell(use.missed, "share", use.missed.n), ""),
        (_RIGHT, ReportCell(use.accuracy, "share"), ReportCell(use.full_accuracy, "share")),
        (_A_CASE[a_case], ReportCell(use.calls, "hundredths"), ReportCell(use.full_calls, "hundredths")),
    ]
    sentences = [Sentence(_MORE())] if use.calls > use.full_calls else []
    if use.cost is not None and use.full_cost is not None:
        rows.append((_A_CASE["dollars"], ReportCell(use.cost, "digits"), ReportCell(use.full_cost, "digits")))
    else:
        sentences.append(Sentence(_NO_COST()))
    figures = Table(
        (_FIGURE(), "", _LADDER_ALONE()),
        tuple(
            (ReportCell(name()), value, other if isinstance(other, ReportCell) else ReportCell(other))
            for name, value, other in rows
        ),
    )
    return _section("use", (_ON_TEST if use.part == "test" else _ON_OWN)(), stages, figures, *sentences)
