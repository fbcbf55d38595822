"""What probes show as sections: what was found, each probe, and what the votes on the cases alone say."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from jury_analysis.wording import Wording
from jury_views.report_sections import Block, Figure, ReportCell, Section, Sentence, Table, Words, table
from jury_views.statistics_words import left_out

if TYPE_CHECKING:
    from jury_analysis.probe_effects import FalsePasses, ProbedRater, ProbeEffect, ProbeReport
    from jury_analysis.run_probes import Reflection, RunProbes

MARKING = "marking"
"""The probe whose figures are shown beside those of `injection`: the same twins with the other marking."""

_SEATS = 12
_NO_TWINS = Wording(
    "the run has no twins: judge them with jury probe FILE --probe NAME",
    "このrunには双子のケースがありません。jury probe FILE --probe NAME で評価してください",
)
_CASES = Wording("run {run}: {n:,} cases", "run {run}: ケース{n:,}件", one="run {run}: {n} case")
_ABSENT = Wording("no twin was judged of {names}", "{names}の双子は評価されていません")
_FOUND = Wording("Found", "検出")
_NOT_FOUND = Wording("Nothing found", "検出なし")
_NOT_TESTED = Wording("Nothing could be tested", "検定できず")
_WHY_NOT = Wording(
    "the notes of the probes below say why: too few pairs, or no verdict changed",
    "理由は以下の各プローブの注記にあります（組が少ない、または判定の変化なし）",
)
_TESTS = Wording(
    "of {n:,} tests, Holm-corrected together at 5 %; a bias too small for so many cases is not found",
    "{n:,}個の検定をまとめて5%でHolm補正。このケース数に対して小さすぎる偏りは検出されません",
    one="of {n} test at 5 %; a bias too small for so many cases is not found",
)
_ONE = Wording("{probe}: {said}", "{probe}: {said}")
_PROBE = Wording("Probe {name}", "プローブ {name}")
_PAIRS = Wording(
    "{n:,} pairs of a case and its twin in {clusters:,} clusters",
    "ケースと双子{n:,}組（クラスター{clusters:,}件）",
    one="{n} pair of a case and its twin in {clusters:,} cluster",
)
_MARKING = Wording("Probe marking: injections by how judged text was marked", "プローブ marking: 記号の付け方別の注入")
_JURY = Wording("jury", "陪審団")
_ALL = Wording("all", "すべて")
_COLUMNS = {
    "pairs": Wording("pairs", "組"),
    "flips": Wording("flips", "変化"),
    "lenient": Wording("more lenient", "より寛大"),
    "stricter": Wording("stricter", "より厳格"),
    "first": Wording("to first speaker", "最初の発言者へ"),
    "away": Wording("away", "反対へ"),
    "p": Wording("p", "p値"),
    "shift": Wording("score shift", "スコアの差"),
}
_MARKED = Wording("marking", "記号")
_FALSE_PASSES = (
    Wording("answers without content", "内容のない回答"),
    Wording("of", "評価者"),
    Wording("passed", "合格"),
    Wording("rate", "割合"),
    Wording("at most", "上限"),
    Wording("p", "p値"),
)
_PASSED = Wording("{passes:,} of {answers:,}", "{answers:,}件中{passes:,}件")
_AGAIN = Wording("Asked again, with and without the peers' opinions", "再質問（他の意見あり・なし）")
_SHOWN = Wording("shown them", "意見あり")
_ALONE = Wording("alone", "意見なし")
_FAMILY = Wording(
    "Leniency to agents of one's own model family, from the cases alone",
    "自系列のモデルによるエージェントへの寛大さ（元のケースのみ）",
)
_NO_FAMILY = Wording(
    "needs labels, metadata.agent_model, and seats and agents of known families",
    "ラベル、metadata.agent_model、系列の分かる陪審員とエージェントが必要です",
)
_SEAT = Wording("seat", "陪審員")
_P = Figure("p_holm", _COLUMNS["p"], "p")
_FAMILY_FIGURES = (
    Figure("family", Wording("family", "系列"), "text"),
    Figure("label", Wording("among cases labelled", "対象のラベル"), "text"),
    Figure("own", Wording("own", "自系列"), "count"),
    Figure("other", Wording("others", "他系列"), "count"),
    Figure("difference", Wording("difference", "差")),
    _P,
)
_LENGTH = Wording(
    "Passes and the length of the answer, among cases of the same label", "合格と回答の長さ（同じラベルのケース内）"
)
_NO_LABELS = Wording("needs labels", "ラベルが必要です")
_LENGTH_FIGURES = (
    Figure("cases", Wording("cases", "ケース"), "count"),
    Figure("passes_a_doubling", Wording("more passes for twice the length", "長さが2倍のときの合格の増加")),
    _P,
)


def probe_sections(found: "RunProbes", asked: Collection[str]) -> list[Section]:
    """Sections in the order in which they are read.

    Args:
        found: the report.
        asked: probes that are named if they have no twin.
    """
    return [*_twins(found, asked), *_reflection(found.reflection), _own_family(found), _length(found)]


def _twins(found: "RunProbes", asked: Collection[str]) -> Iterator[Section]:
    report, of_run = found.twins, Sentence(_CASES(run=found.run_id, n=found.cases))
    if report is None:
        yield _section("summary", _NOT_TESTED(), of_run, Sentence(_NO_TWINS()))
        return
    some = any(probe.found for probe in report.probes)
    title = _FOUND() if some else _NOT_FOUND() if report.tests else _NOT_TESTED()
    yield _section("summary", title, of_run, *_summary(report, [name for name in found.absent if name in asked]))
    for probe in report.probes:
        if probe.probe == MARKING:
            yield _markings([one for one in report.probes if one.marking is not None])
        else:
            yield _probe(probe)


def _section(key: str, title: Words, *blocks: Block) -> Section:
    return Section("probes", key, title, blocks)


def _summary(report: "ProbeReport", absent: Sequence[str]) -> Iterator[Sentence]:
    yield from left_out(report.excluded)
    yield from (Sentence(_ONE(probe=one.probe, said=line)) for one in report.probes for line in one.found)
    yield Sentence(_TESTS(n=report.tests) if report.tests else _WHY_NOT())
    if absent:
        yield Sentence(_ABSENT(names=", ".join(absent)))


def _probe(probe: "ProbeEffect") -> Section:
    towards = ("first", "away") if probe.jury.direction == "first speaker" else ("lenient", "stricter")
    raters = (probe.jury, *probe.seats)
    head = ("", *(_COLUMNS[name]() for name in ("pairs", "flips", *towards, "p", "shift", "p")))
    blocks: list[Block] = [
        Sentence(_PAIRS(n=probe.pairs, clusters=probe.clusters)),
        Table(head, tuple((ReportCell(_name(one)), *_rater(one)) for one in raters), few=_SEATS + 1),
    ]
    if passes := [_passed(one, passed) for one in raters[: _SEATS + 1] for passed in one.false_passes]:
        blocks.append(Table(tuple(one() for one in _FALSE_PASSES), tuple(passes)))
    return _section(probe.probe, _PROBE(name=probe.probe), *blocks)


def _markings(compared: "Sequence[ProbeEffect]") -> Section:
    """The flips of the injections under each marking, by rater."""
    seats = dict.fromkeys(seat.seat for one in compared for seat in one.seats)
    rows = [
        (ReportCell(_name(rater)), ReportCell(str(effect.marking)), *_rater(rater))
        for name in (None, *seats)
        for effect in compared
        for rater in (effect.jury, *effect.seats)
        if rater.seat == name
    ]
    names = ("pairs", "flips", "lenient", "stricter", "p", "shift", "p")
    head = ("", _MARKED(), *(_COLUMNS[name]() for name in names))
    return _section(MARKING, _MARKING(), Table(head, tuple(rows), few=(_SEATS + 1) * len(compared)))


def _rater(one: "ProbedRater") -> tuple[ReportCell, ...]:
    return (
        ReportCell(one.pairs, "count"),
        ReportCell(one.flips, "share"),
        ReportCell(one.towards_first, "count"),
        ReportCell(one.towards_last, "count"),
        ReportCell(one.p_holm, "p"),
        ReportCell(one.score_shift.value, "shift"),
        ReportCell(one.score_p_holm, "p"),
    )


def _passed(one: "ProbedRater", passed: "FalsePasses") -> tuple[ReportCell, ...]:
    return (
        ReportCell(_ALL() if passed.text is None else passed.text),
        ReportCell(_name(one)),
        ReportCell(_PASSED(passes=passed.passes, answers=passed.answers)),
        ReportCell(passed.rate, "share"),
        ReportCell(passed.upper_bound, "share"),
        ReportCell(passed.p_holm, "p"),
    )


def _reflection(found: "Reflection | None") -> Iterator[Section]:
    if found is None:
        return
    head = (
        "",
        Wording("positions changed", "立場の変化")(),
        Wording("opposed", "反対意見")(),
        Wording("took the peers' position", "他の立場に合わせた")(),
    )
    rows = tuple(
        (
            ReportCell(name()),
            ReportCell(changed, "share"),
            ReportCell(one.opposed, "count"),
            ReportCell(one.rate, "share"),
        )
        for name, changed, one in (
            (_SHOWN, found.changed_with_peers, found.with_peers),
            (_ALONE, found.changed_alone, found.alone),
        )
    )
    yield _section("reflection", _AGAIN(), Table(head, rows))


def _own_family(found: "RunProbes") -> Section:
    rows = table([(one.seat, one) for one in found.own_family], _FAMILY_FIGURES, _SEAT())
    return _section("own-family", _FAMILY(), rows if found.own_family else Sentence(_NO_FAMILY()))


def _length(found: "RunProbes") -> Section:
    rows = table([(one.seat, one) for one in found.length], _LENGTH_FIGURES, _SEAT())
    return _section("length-of-answers", _LENGTH(), rows if found.length else Sentence(_NO_LABELS()))


def _name(one: "ProbedRater") -> Words:
    return _JURY() if one.seat is None else one.seat
