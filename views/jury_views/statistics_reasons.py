"""Why a figure of a report has no value or no interval, in Japanese; in English as `jury_analysis` words it."""

import re
from collections.abc import Mapping

from jury_events.panel import Language

_JAPANESE: Mapping[str, str] = {
    r"only one verdict occurs: agreement cannot be distinguished from chance": (
        "判定が1種類だけで、一致と偶然を区別できません"
    ),
    r"no case has votes of two seats": "2名の票があるケースはありません",
    r"no case has votes of both seats": "両者の票があるケースはありません",
    r"no case has scores of two seats": "2名のスコアがあるケースはありません",
    r"no case has a vote of every seat": "全員の票があるケースはありません",
    r"the verdicts have no order": "判定に順序がありません",
    r"the verdicts have no order, so none is a pass or a fail": "判定に順序がないため、合格も不合格もありません",
    r"all scores are equal": "スコアがすべて同じです",
    r"no debate has a label": "ラベルのある議論はありません",
    r"no unit has a label": "ラベルのある議論はありません",
    r"no unit has the label (?P<name>\S+)": "ラベルが{name}の議論はありません",
    r"no labelled unit has a decided verdict(?: with this confidence)?": "ラベルのある議論に、この判定はありません",
    r"no labelled unit was decided by all seats": "ラベルのある議論で、全員が判定したものはありません",
    r"labels and verdicts are all of one category": "ラベルと判定がすべて1種類です",
    r"the verdicts are all right or all wrong": "判定がすべて正解か、すべて不正解です",
    r"no unit has such a confidence": "この確信度の議論はありません",
    r"no labelled pair of votes": "ラベルのある票の組はありません",
    r"no seat voted in both rounds": "両方のラウンドで投票した陪審員はいません",
    r"no seat was opposed to a plurality of its peers": "他の多数に反対した陪審員はいません",
    r"one seat has no pair": "陪審員が1名で、組がありません",
    r"(?:in each pair, a seat|a seat of the pair) is always right or always wrong, .*": (
        "常に正解（または不正解）の陪審員がいるため、誤りの相関はありません"
    ),
    r"no (?:unit|pair) counts": "該当するものがありません",
    r"no cluster changes": "変化したクラスターはありません",
    r"(?:no interval: )?(?P<n>[\d–]+) clusters?, fewer than (?P<least>\d+)": (
        "クラスターが{n}件（{least}件未満）のため区間なし"
    ),
    r"(?:no interval: )?fewer than (?P<least>\d+) clusters": "クラスターが{least}件未満",
    r"only (?P<n>[\d–]+) clusters?, fewer than (?P<least>\d+): the interval may be too narrow": (
        "クラスターが{n}件（{least}件未満）のため、区間が狭すぎる可能性があります"
    ),
    r"only (?P<n>[\d–]+) clusters change, .*": "変化したクラスターが{n}件だけのため、近似は粗いものです",
    r"no interval: the data do not vary, and an interval of width zero would claim certainty": (
        "区間なし: データにばらつきがなく、幅ゼロの区間は確実さを装います"
    ),
    r"no interval: undefined in (?P<n>[\d–]+) of (?P<all>\d+) resamples": (
        "区間なし: 再標本{all}回中{n}回で計算できません"
    ),
    r"undefined in (?P<n>[\d–]+) of (?P<all>\d+) resamples, .*": (
        "再標本{all}回中{n}回は計算できず、区間から除外しています"
    ),
    r"fewer than two votes in the first evaluation: not in the agreement": (
        "最初の評価の票が2票未満（一致の計算から除外）"
    ),
    r"simulated": "模擬",
    r"stale": "以前の票",
    r"synthetic": "代替の票",
    r"(?P<n>[\d,]+) of (?P<all>[\d,]+) debates? (is|are) simulated: (its|their) votes are no evaluation by a model": (
        "議論{all}件中{n}件が模擬で、その票はモデルの評価ではありません"
    ),
    r"first set: (?P<rest>.*)": "A: {rest}",
    r"second set: (?P<rest>.*)": "B: {rest}",
}

_UNITS: Mapping[str, str] = {"debates": "議論", "votes": "票", "cases": "ケース"}


def statistics_reason(text: str, language: Language) -> str:
    """A reason, note or warning in a language; in English where it has no translation."""
    if language == "en":
        return text
    for pattern, japanese in _JAPANESE.items():
        if found := re.fullmatch(pattern, text):
            groups = {name: statistics_reason(value, language) for name, value in found.groupdict().items()}
            return japanese.format(**groups)
    return text


def statistics_unit(unit: str, language: Language) -> str:
    """What an exclusion counts: debates, votes or cases."""
    return unit if language == "en" else _UNITS.get(unit, unit)
