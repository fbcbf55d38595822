"""Baselines, drift checks and plans as reports, for terminals, pages and programs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_analysis.wording import Reason, Wording
from jury_events.drift_events import ChangedFact, DriftDecision, DriftOpened
from jury_events.drift_facts import DriftCheck, DriftFacts
from jury_events.text import dollars, moment, visible_line
from jury_events.verdict import FAIL, PASS, REVIEW
from jury_views.report_sections import NOTHING, Chart, ReportCell, Section, Table, Words

if TYPE_CHECKING:
    from jury_analysis.drift_plan import Change, Delay, DriftPlan

_WORDS = {"p": PASS.value, "r": REVIEW.value, "f": FAIL.value, "-": NOTHING}
_DAY = 86_400_000_000
_SEAT = "seat/"
_ANCHORS = 20

_VERDICTS = {
    "none": Wording("none", "ドリフトなし"),
    "judge": Wording("judge", "審査側の変化"),
    "agent_or_traffic": Wording(
        "agent or traffic, as far as the anchors show", "アンカーから分かる限り、エージェントまたは入力の変化"
    ),
    "not_decided": Wording("not decided yet", "まだ判断できません"),
}
_STATES = {
    "open": Wording("goes on", "実行中"),
    "abandoned": Wording("abandoned: debates were cancelled", "中止: 議論が取り消されました"),
}
_KINDS = {
    "milder": Wording("milder", "甘くなった"),
    "stricter": Wording("stricter", "厳しくなった"),
    "farther": Wording("farther from the labels", "ラベルから遠ざかった"),
    "nearer": Wording("nearer to the labels", "ラベルに近づいた"),
    "balanced": Wording("changed both ways", "両方向に変化した"),
    "silent": Wording("more often without a verdict", "判定なしが増えた"),
    "answering": Wording("less often without a verdict", "判定なしが減った"),
}
_COINS = {
    "direction": Wording("stricter", "厳しくなった"),
    "distance": Wording("farther from the label", "ラベルから遠ざかった"),
    "odd": Wording("the odd one of three", "3回のうち今回だけ異なる"),
    "silence": Wording("now without a verdict", "今回は判定なし"),
}
_CHANGED = {
    "model": Wording(
        "{seat}: another model answered: {now}; in the baseline {before}",
        "{seat}: 別のモデルが応答: {now}（ベースラインでは{before}）",
    ),
    "fingerprint": Wording(
        "{seat}: another fingerprint: {now}; in the baseline {before}",
        "{seat}: 別のフィンガープリント: {now}（ベースラインでは{before}）",
    ),
}
_NAMES = {"jury": Wording("jury", "陪審団"), "stream": Wording("stream", "ストリーム")}
_OF_SEAT = Wording("seat {name}", "席 {name}")
_FINAL = Wording("final judge", "最終判定者")
_SINCE = Wording("{kinds} since about check {number} ({names})", "検査{number}ごろから{kinds}（{names}）")
_COMMA = Wording("{one}, {other}", "{one}、{other}")
_SEMICOLON = Wording("{one}; {other}", "{one}; {other}")
_COLON = Wording("{one}: {other}", "{one}: {other}")
_LAST = Wording("last drift check {ago}: {found}", "最後のドリフト検査 {ago}: {found}")
_NO_CHECK = Wording("no drift check", "ドリフト検査なし")
_NEVER = Wording("never checked", "未検査")
_CALIBRATED = Wording("calibrated {ago}; {checked}", "校正 {ago}; {checked}")
_TODAY = Wording("today", "今日")
_AGO = Wording("{n} days ago", "{n}日前", one="{n} day ago")

_ID = Wording("baseline", "ベースライン")
_PANEL = Wording("panel", "陪審団の構成")
_ANCHORS_ARE = Wording("anchors", "アンカー")
_DRAWS = Wording("draws of each", "各アンカーの回数")
_LEFT = Wording("checks left of all anchors", "全アンカーの残りの検査回数")
_LAST_CHECK = Wording("last check", "最後の検査")
_FOUND = Wording("found", "結果")
_STREAM = Wording("stream", "ストリーム")
_USES = Wording("used up by a judging", "1回の審査で使う記録")
_N_DRAWS = Wording("{n} draws", "{n}回分", one="{n} draw")
_FALSE_ALARMS = Wording("false alarms", "誤警報")
_BY_PAIR = Wording(
    "at most {alpha:g} over the life of the baseline; each pair is a toss",
    "ベースラインの全期間で{alpha:g}以下（組ごとに数える）",
)
_BY_CHECK = Wording(
    "at most {alpha:g} over the life of the baseline; each check is a toss",
    "ベースラインの全期間で{alpha:g}以下（検査ごとに数える）",
)
_IMPORTED = Wording("imported", "取り込み")
_TRUSTED = Wording("verified with {key}", "{key}で検証済み")
_FOREIGN = Wording(
    "without a trusted key: {n} checks count for nothing here",
    "信頼する鍵なし: ここでは{n}回の検査を数えない",
    one="without a trusted key: {n} check counts for nothing here",
)
_NOT_COUNTED = Wording(
    "{found} (imported without a key: does not count)",
    "{found}（鍵なしで取り込み: 数えない）",
)
_CHECK = Wording("check", "検査")
_ENDED = Wording("ended", "終了")
_PAIRS = Wording("pairs", "組")
_OF_STREAM = Wording("pairs of the stream", "ストリームの組")
_E = Wording("evidence (E)", "証拠（E値）")
_ALARM = Wording("alarm from", "警報の値")
_WATCHED = Wording("watched", "監視対象")
_EVIDENCE = Wording("Evidence by check", "検査ごとの証拠")
_HINT = Wording(
    "E of the jury after each check, on a logarithmic scale. The dashed line is the alarm: without drift E ever "
    "reaches it with a chance of at most {alpha:g}.",
    "各検査後の陪審団のE値（対数目盛）。破線は警報の値で、ドリフトがなければ、"
    "E値が一度でもこれに達する確率は{alpha:g}以下です。",
)
_CHANGED_ANCHORS = Wording("Anchors with another verdict than usual", "普段と判定が異なるアンカー")
_CASE = Wording("case", "ケース")
_USUAL = Wording("usual", "普段")
_NOW = Wording("now", "今回")
_CHECKS = Wording("Checks", "検査一覧")
_BASELINES = Wording("Baselines", "ベースライン一覧")
_PLAN = Wording("nothing is judged, and no model is called", "審査もモデルの呼び出しもしない")
_BASELINE = Wording("baseline", "ベースライン")
_A_CHECK = Wording("a check", "1回の検査")
_JUDGINGS = Wording("{n:,} judgings{price}", "審査{n:,}回{price}", one="{n} judging{price}")
_LASTING = Wording("draws last", "記録の持続")
_FOR_EVER = Wording("for ever: each judging is replaced", "無期限（使うたびに補充）")
_FOR_CHECKS = Wording(
    "{n} checks, {days:g} days at one every {every:g} days",
    "検査{n}回、{every:g}日ごとなら{days:g}日",
    one="{n} check, {days:g} days at one every {every:g} days",
)
_DOLLARS = Wording("dollars", "ドル")
_UNKNOWN = Wording("unknown: a model has no price (--prices FILE)", "不明（価格のないモデルがある。--prices FILE）")
_EACH = Wording("{price} a judging, {by}", "審査1回あたり{price}（{by}）")
_DELAYS = Wording("Found after so many checks (median of simulated judges)", "検出までの検査回数（模擬審査員の中央値）")
_CHANGE = Wording("change", "変化")
_FROM_FIRST = Wording("from the first check", "最初の検査から")
_LATER = Wording("after 10 calm checks", "変化のない検査10回の後")
_IN_SIXTY = Wording("found in 60", "60回以内に検出")
_FLIPS = Wording("{share:.0%} of anchors flip, half each way", "アンカーの{share:.0%}が半数ずつ両方向に反転")
_WRONG = Wording("wrong on {before:.0%} → {after:.0%}", "誤り {before:.0%} → {after:.0%}")
_AFTER = Wording("{n} ({days:g} days)", "{n}（{days:g}日）")
_MORE = Wording("more than 60", "60回超")


class DriftFact(NamedTuple):
    """What is known by name; `link`: a path of pages."""

    name: Reason
    said: Words
    link: str = ""


class DriftReport(NamedTuple):
    """A baseline, a check, a list of baselines or a plan: what it comes to, then facts, then sections.

    `verdict` is that of the headline; None: there is none, as of a check that goes on. `at`: when, in µs since
    1970-01-01 UTC.
    """

    title: str
    headline: Reason | None = None
    verdict: str | None = None
    at: int = 0
    facts: tuple[DriftFact, ...] = ()
    sections: tuple[Section, ...] = ()


def found_words(decision: DriftDecision) -> Reason:
    """`judge: stricter since about check 12 (jury, seat gpt)`; `none`."""
    who: dict[tuple[Reason, int], list[Reason]] = {}
    for one in decision.watched:
        if one.kinds and one.name != "stream":
            kinds = _joined(_COMMA, [_KINDS[kind]() for kind in one.kinds])
            who.setdefault((kinds, one.since or 1), []).append(_name(one.name))
    said = [_SINCE(kinds=key[0], number=key[1], names=_joined(_COMMA, names)) for key, names in who.items()]
    if decision.verdict == "judge":
        said = [*facts_words(decision.facts), *said]
    verdict = _VERDICTS[decision.verdict]()
    return _COLON(one=verdict, other=_joined(_SEMICOLON, said)) if said else verdict


def facts_words(facts: Iterable[ChangedFact]) -> list[Reason]:
    """Which models or fingerprints answered that never did in the baseline, and for whom."""
    who: dict[tuple[str, str, str], list[Reason]] = {}
    for fact in facts:
        key = (fact.what, ", ".join(fact.now), ", ".join(fact.before))
        who.setdefault(key, []).append(_FINAL() if fact.juror_id is None else _OF_SEAT(name=fact.juror_id))
    return [
        _CHANGED[what](seat=_joined(_COMMA, seats), now=now, before=before)
        for (what, now, before), seats in who.items()
    ]


def standing_words(checked: tuple[int, DriftDecision] | None, calibrated_at: int | None, now: int) -> Reason:
    """`calibrated 41 days ago; last drift check 3 days ago: none`; times in µs since 1970-01-01 UTC."""
    said = _NO_CHECK() if checked is None else _LAST(ago=_ago(checked[0], now), found=found_words(checked[1]))
    return said if calibrated_at is None else _CALIBRATED(ago=_ago(calibrated_at, now), checked=said)


def _ago(at: int, now: int) -> Reason:
    days = max(now - at, 0) // _DAY
    return _AGO(n=days) if days else _TODAY()


def _joined(wording: Wording, said: Sequence[Reason]) -> Reason:
    return reduce(lambda one, other: wording(one=one, other=other), said)


def _name(watched: str) -> Reason:
    return _OF_SEAT(name=watched.removeprefix(_SEAT)) if watched.startswith(_SEAT) else _NAMES[watched]()


def list_report(found: Sequence[DriftFacts]) -> DriftReport:
    """The baselines of a store, a row each."""
    head = (_ID(), _PANEL(), _ANCHORS_ARE(), _DRAWS(), _LEFT(), _LAST_CHECK(), _FOUND())
    table = Table(head, tuple(map(_baseline_row, found)))
    return DriftReport("", sections=(Section("drift", "baselines", _BASELINES(), (table,)),) if found else ())


def _baseline_row(facts: DriftFacts) -> tuple[ReportCell, ...]:
    opened, last = facts.opened, facts.ended[-1:]
    return (
        ReportCell(opened.drift_id, link=f"/drift/{opened.drift_id}"),
        ReportCell(_panel(opened)),
        ReportCell(len(opened.anchors), "count"),
        ReportCell(f"{facts.sessions}/{facts.planned}"),
        ReportCell(facts.left, "count"),
        ReportCell(moment(last[0].ended_at, "minutes") if last else _NEVER()),
        ReportCell(_state(facts, last[0]) if last else None),
    )


def baseline_report(facts: DriftFacts) -> DriftReport:
    """A baseline: what the last check came to, its rules, the evidence, its checks."""
    checks = (_checks(facts),) if facts.checks else ()
    return _report(facts, facts.opened.drift_id, facts.ended[-1] if facts.ended else None, _facts(facts), checks)


def check_report(facts: DriftFacts, check: DriftCheck) -> DriftReport:
    """What a check came to: who drifted, by which evidence, and the anchors that changed."""
    opened = check.opened
    said = [DriftFact(_PAIRS(), f"{len(opened.pairs):,}", f"/runs/{opened.run_id}")]
    if opened.stream is not None:
        said.append(DriftFact(_OF_STREAM(), f"{len(opened.stream_pairs):,}", f"/runs/{opened.stream}"))
    said.append(DriftFact(_LEFT(), f"{facts.left:,}"))
    return _report(facts, f"{facts.opened.drift_id}, check {opened.number}", check, said)


def _report(
    facts: DriftFacts, title: str, check: DriftCheck | None, said: Iterable[DriftFact], more: tuple[Section, ...] = ()
) -> DriftReport:
    decision = None if check is None or check.ended is None else check.ended.decision
    found = () if decision is None else (_evidence(facts, decision), *_anchors(decision))
    return DriftReport(
        title,
        _NEVER() if check is None else _state(facts, check),
        None if decision is None else decision.verdict,
        0 if check is None else check.ended_at,
        tuple(said),
        (*found, *more),
    )


def _facts(facts: DriftFacts) -> Iterator[DriftFact]:
    opened = facts.opened
    yield DriftFact(_PANEL(), _panel(opened))
    yield DriftFact(_ANCHORS_ARE(), f"{len(opened.anchors):,}")
    yield DriftFact(_DRAWS(), f"{facts.sessions}/{facts.planned}", f"/runs/{opened.run_id}")
    yield DriftFact(_USES(), _N_DRAWS(n=opened.used))
    yield DriftFact(_LEFT(), f"{facts.left:,}")
    yield DriftFact(_FALSE_ALARMS(), (_BY_PAIR if opened.tossed == "pair" else _BY_CHECK)(alpha=opened.alpha))
    if opened.stream is not None:
        yield DriftFact(_STREAM(), opened.stream, f"/runs/{opened.stream}")
    if facts.imported is not None:
        key = facts.imported.verified_with
        yield DriftFact(_IMPORTED(), _FOREIGN(n=facts.foreign) if key is None else _TRUSTED(key=key))


def _evidence(facts: DriftFacts, decision: DriftDecision) -> Section:
    coins = [one.coin for one in decision.watched[0].coins]
    rows = []
    for one in decision.watched:
        tossed = {coin.coin: f"{coin.k:,}/{coin.n:,}" for coin in one.coins}
        cells = (_name(one.name), _e(one.e), _e(one.bound), *(tossed.get(coin) for coin in coins))
        rows.append(tuple(map(ReportCell, cells)))
    table = Table((_WATCHED(), _E(), _ALARM(), *(_COINS[coin]() for coin in coins)), tuple(rows))
    chart = Chart("drift_chart", lambda _language: curve(facts), _HINT(alpha=facts.opened.alpha))
    return Section("drift", "evidence", _EVIDENCE(), (chart, table))


def _anchors(decision: DriftDecision) -> Iterator[Section]:
    rows = tuple(
        (ReportCell(one.case_id), ReportCell(_WORDS[one.before], "verdict"), ReportCell(_WORDS[one.now], "verdict"))
        for one in decision.anchors
    )
    if rows:
        table = Table((_CASE(), _USUAL(), _NOW()), rows, few=_ANCHORS)
        yield Section("drift", "anchors", _CHANGED_ANCHORS(), (table,))


def _checks(facts: DriftFacts) -> Section:
    rows = tuple(_check_row(facts, check) for check in reversed(facts.checks))
    return Section("drift", "checks", _CHECKS(), (Table((_CHECK(), _ENDED(), _PAIRS(), _E(), _FOUND()), rows),))


def _check_row(facts: DriftFacts, check: DriftCheck) -> tuple[ReportCell, ...]:
    return (
        ReportCell(check.opened.number, "count", link=f"/runs/{check.opened.run_id}"),
        ReportCell(moment(check.ended_at, "minutes") if check.ended_at else None),
        ReportCell(len(check.opened.pairs), "count"),
        ReportCell(None if check.ended is None else _e(check.ended.decision.watched[0].e)),
        ReportCell(_state(facts, check)),
    )


def _state(facts: DriftFacts, check: DriftCheck) -> Reason:
    said = _STATES[check_state(check)]() if check.ended is None else found_words(check.ended.decision)
    return _NOT_COUNTED(found=said) if check.opened.number <= facts.foreign else said


def check_state(check: DriftCheck) -> str:
    """`ended`, `abandoned` or `open`."""
    return "ended" if check.ended is not None else "abandoned" if check.abandoned is not None else "open"


def _e(value: float) -> str:
    return f"{value:.3g}"


def _panel(opened: DriftOpened) -> str:
    return f"{visible_line(opened.panel_name, 40)} ({opened.panel[:16]})"


class DriftCurve(NamedTuple):
    """The evidence on the jury check by check: the points of a polyline, and where the alarm is."""

    points: str
    alarm_y: float
    dots: tuple[tuple[float, float, int], ...]
    ticks: tuple[tuple[str, float], ...]
    width: float
    height: float


_WIDTH, _HEIGHT = 560.0, 160.0
_LOWEST, _LEAST_HIGHEST, _MOST_HIGHEST = -2.0, 2.0, 12.0
"""Of the curve, powers of ten."""


def curve(facts: DriftFacts) -> DriftCurve:
    """The evidence on the jury after each of its checks, of which one at least ended."""
    ended = [(one.opened.number, one.ended.decision.watched[0].e) for one in facts.checks if one.ended is not None]
    values = [(number, log10(max(e, 1e-300))) for number, e in ended]
    bound = log10(1 / facts.opened.alpha)
    highest = max(_LEAST_HIGHEST, min(_MOST_HIGHEST, max(bound, *(value for _, value in values)) + 0.5))

    def up(value: float) -> float:
        inside = min(max(value, _LOWEST), highest)
        return round(_HEIGHT * (1 - (inside - _LOWEST) / (highest - _LOWEST)), 2)

    step = _WIDTH / len(values)
    dots = tuple((round(step * place, 2), up(value), number) for place, (number, value) in enumerate(values, 1))
    points = " ".join(f"{x},{y}" for x, y in [(0.0, up(0.0)), *((x, y) for x, y, _ in dots)])
    powers = range(int(_LOWEST), int(highest) + 1, max(1, int(highest - _LOWEST) // 4))
    ticks = tuple((f"{10.0**power:g}", up(power)) for power in powers)
    return DriftCurve(points, up(bound), dots, ticks, _WIDTH, _HEIGHT)


def plan_report(plan: "DriftPlan", *, every: float, cost: float | None, by: Reason) -> DriftReport:
    """What a baseline would find how soon, how long its draws last, and what it costs.

    Args:
        every: days between checks.
        cost: of a judging in US dollars; None: a model has no price.
        by: which cases the price is of.
    """

    def judgings(number: int) -> Reason:
        return _JUDGINGS(n=number, price="" if cost is None else f", {dollars(cost * number)}")

    lasting = _FOR_EVER()
    if plan.checks is not None:
        lasting = _FOR_CHECKS(n=plan.checks, days=plan.checks * every, every=every)
    facts = (
        DriftFact(_BASELINE(), judgings(plan.baseline)),
        DriftFact(_A_CHECK(), judgings(plan.judgings)),
        DriftFact(_LASTING(), lasting),
        DriftFact(_DOLLARS(), _UNKNOWN() if cost is None else _EACH(price=dollars(cost), by=by)),
    )
    half = len(plan.delays) // 2
    rows = tuple(_delay_row(*both, every) for both in zip(plan.delays[:half], plan.delays[half:], strict=True))
    table = Table((_CHANGE(), _FROM_FIRST(), _LATER(), _IN_SIXTY()), rows)
    return DriftReport("plan", _PLAN(), facts=facts, sections=(Section("drift", "delays", _DELAYS(), (table,)),))


def _delay_row(first: "Delay", later: "Delay", every: float) -> tuple[ReportCell, ...]:
    change = ReportCell(_change(first.change))
    return change, *(ReportCell(_after(one, every)) for one in (first, later)), ReportCell(f"{later.found:.0%}")


def _change(change: "Change") -> Reason:
    return _FLIPS(share=change.flipped) if change.flipped else _WRONG(before=change.before, after=change.after)


def _after(delay: "Delay", every: float) -> Reason:
    return _MORE() if delay.checks is None else _AFTER(n=delay.checks, days=delay.checks * every)


def drift_object(facts: DriftFacts, *, checks: bool = True) -> dict[str, Any]:
    opened, imported = facts.opened, facts.imported
    return {
        **opened.model_dump(mode="json", exclude={"type", "anchors", "program"}),
        "opened_at": moment(facts.at, "microseconds"),
        "anchors": len(opened.anchors),
        "draws": facts.planned,
        "judged": facts.sessions,
        "checks_left": facts.left,
        "imported": None if imported is None else imported.model_dump(include={"sealed_by", "verified_with"}),
        "last": check_object(facts, facts.ended[-1]) if facts.ended else None,
        **({"checks": [check_object(facts, one) for one in facts.checks]} if checks else {}),
    }


def check_object(facts: DriftFacts, check: DriftCheck) -> dict[str, Any]:
    opened, decision = check.opened, None if check.ended is None else check.ended.decision
    found: dict[str, Any] = {"verdict": None, "says": None, "facts": [], "watched": [], "anchors": []}
    if decision is not None:
        found |= {**decision.model_dump(mode="json"), "says": found_words(decision)}
    return {
        "drift_id": facts.opened.drift_id,
        **opened.model_dump(mode="json", exclude={"type", "pairs", "stream_pairs"}),
        "state": check_state(check),
        "opened_at": moment(check.at, "microseconds"),
        "ended_at": moment(check.ended_at, "microseconds") if check.ended_at else None,
        "pairs": len(opened.pairs),
        "stream_pairs": len(opened.stream_pairs),
        **found,
        "anchors": [{**one, "before": _WORDS[one["before"]], "now": _WORDS[one["now"]]} for one in found["anchors"]],
    }
