"""The same cases in two runs as sections: verdicts side by side, and what changed, for every reader."""

from typing import TYPE_CHECKING

from jury_analysis.estimate import Estimate, missing
from jury_analysis.wording import Wording
from jury_views.conclusion import decided_sentence
from jury_views.report_sections import Block, Format, ReportCell, Section, Sentence, Table, Words, crossed
from jury_views.statistics_words import ACCURACY, P_HOLM

if TYPE_CHECKING:
    from jury_analysis.paired import Paired, PairedChange
    from jury_analysis.pairing import PairedTest
    from jury_views.gate_view import GateInWords

PAIRED_TABLES = ("verdicts", "changes")
"""The names of the tables that `jury gate` takes."""

_BASIS = Wording(
    "{n:,} pairs in {clusters:,} clusters; without a verdict: {without:,}; without an evaluation: {unknown:,}",
    "{n:,}組（クラスター{clusters:,}件）。判定なし{without:,}組、評価なし{unknown:,}組",
    one="{n} pair in {clusters:,} cluster; without a verdict: {without:,}; without an evaluation: {unknown:,}",
)
_UNCHANGED = Wording("{unchanged:,} of {n:,} unchanged", "{n:,}組中、変化なし{unchanged:,}組")
_TOWARDS = Wording(
    "{unchanged}; {last:,} towards {worst}, {first:,} towards {best}",
    "{unchanged}、{worst}の方向へ{last:,}組、{best}の方向へ{first:,}組",
)
_TESTS = (
    ("marginal_homogeneity", Wording("same shares (Stuart-Maxwell)", "割合が同じか（スチュアート・マクスウェル）")),
    ("symmetry", Wording("same flips in both directions (Bowker)", "変化が対称か（ボウカー）")),
)
_P = Wording("p", "p値")
_FIGURES: dict[str, Wording] = {
    "score": Wording("score", "スコア"),
    "accuracy": ACCURACY,
    "false pass rate": Wording("false pass rate", "誤った合格の割合"),
    "false fail rate": Wording("false fail rate", "誤った不合格の割合"),
}
_SHARE_OF = Wording("share of {verdict}", "{verdict}の割合")
_RIGHT_IN_ONE = Wording(
    "{n:,} pairs with a label: {worse:,} right only in {a}, {better:,} right only in {b}",
    "ラベルのある{n:,}組のうち、{a}だけ正解が{worse:,}組、{b}だけ正解が{better:,}組",
    one="{n} pair with a label: {worse:,} right only in {a}, {better:,} right only in {b}",
)
_DECIDED = Wording("{side}: {said}", "{side}: {said}")
_INTERVALS = Wording("95 % intervals over clusters", "95%信頼区間（クラスター単位）")
_CORRECTED = Wording(
    "95 % intervals over clusters; p corrected for {n:,} tests (Holm)",
    "95%信頼区間（クラスター単位）。p値は{n:,}個の検定に対するHolm補正済み",
    one="95 % intervals over clusters; p of {n} test, which needs no correction",
)
Sides = tuple[Words, Words]


def paired_sections(paired: "Paired", sides: Sides) -> tuple[Section, Section]:
    """Verdicts of both sides, which have these names, and changes from the first to the second."""
    return _verdicts(paired, sides), _changes(paired, sides)


def gate_sections(named: "GateInWords") -> tuple[Section, ...]:
    """Those of a gate on two sides; () of one on a true rate."""
    paired = getattr(named.report, "paired", None)
    return () if paired is None else paired_sections(paired, ("base", "candidate"))


def _verdicts(paired: "Paired", sides: Sides) -> Section:
    corner = Wording("{a} ↓  {b} →", "{a} ↓  {b} →")(a=sides[0], b=sides[1])
    basis = _BASIS(
        n=paired.pairs, clusters=paired.clusters, without=paired.without_verdict, unknown=paired.without_evaluation
    )
    said = _UNCHANGED(unchanged=paired.unchanged, n=paired.pairs)
    if paired.towards_last is not None and paired.towards_first is not None:
        best, *_, worst = paired.categories
        said = _TOWARDS(unchanged=said, last=paired.towards_last, first=paired.towards_first, worst=worst, best=best)
    tests = Table(
        (Wording("test", "検定")(), "χ²", Wording("degrees", "自由度")(), _P(), P_HOLM()),
        tuple(_test(name(), getattr(paired, field)) for field, name in _TESTS),
        title=Wording("tests", "検定")(),
    )
    table = crossed(corner, paired.categories, paired.categories, paired.table)
    blocks = (Sentence(basis), Sentence(said), table, tests)
    return Section("verdicts", "verdicts", Wording("Verdicts of the same cases", "同じケースの判定")(), blocks)


def _test(name: Words, test: "PairedTest") -> tuple[ReportCell, ...]:
    found = missing(test.reason) if test.reason is not None else Estimate(test.statistic, notes=test.notes)
    return (
        ReportCell(name),
        ReportCell(found, "number"),
        ReportCell(test.degrees, "count"),
        ReportCell(test.p_value, "p"),
        ReportCell(test.p_holm, "p"),
    )


def _changes(paired: "Paired", sides: Sides) -> Section:
    against = paired.against_labels
    changes = [*paired.shares, paired.score]
    blocks: list[Block] = []
    if against is not None:
        changes += [against.accuracy, against.false_passes, against.false_fails]
        blocks += [
            Sentence(_DECIDED(side=side, said=decided_sentence(one)))
            for side, one in zip(sides, against.decided, strict=True)
        ]
    head = (
        Wording("figure", "指標")(),
        *sides,
        Wording("{b} - {a}", "{b} − {a}")(a=sides[0], b=sides[1]),
        _P(),
        P_HOLM(),
    )
    blocks.append(Table(head, tuple(_change(one) for one in changes)))
    if against is not None:
        worse, better = against.right_to_wrong, against.wrong_to_right
        blocks.append(Sentence(_RIGHT_IN_ONE(n=against.pairs, worse=worse, better=better, a=sides[0], b=sides[1])))
    blocks.append(Sentence(_CORRECTED(n=paired.tests) if paired.tests else _INTERVALS()))
    return Section("changes", "changes", Wording("Changes of the same cases", "同じケースの変化")(), tuple(blocks))


def _change(one: "PairedChange") -> tuple[ReportCell, ...]:
    name = _FIGURES[one.figure]() if one.verdict is None else _SHARE_OF(verdict=one.verdict)
    side: Format = "decimal" if one.figure == "score" else "share"
    return (
        ReportCell(name),
        ReportCell(one.first, side),
        ReportCell(one.second, side),
        ReportCell(one.change, "number" if side == "decimal" else "share"),
        ReportCell(one.p_value, "p"),
        ReportCell(one.p_holm, "p"),
    )
