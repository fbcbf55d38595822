"""Settings of reports over votes, as the options of `jury_analysis`."""

from collections.abc import Collection, Mapping

from jury_analysis.calibration import CalibrationOptions
from jury_analysis.gate import GateOptions
from jury_analysis.ladder_promises import Promises
from jury_analysis.ladder_report import LadderOptions
from jury_analysis.pairing import PairedOptions
from jury_analysis.panel_worth import WorthOptions
from jury_analysis.scale import Scale
from jury_analysis.statistics import StatisticsOptions
from jury_cases.votes.words import VerdictWords
from jury_judge.settings.calibration import CalibrationSettings
from jury_judge.settings.gate import GateSettings
from jury_judge.settings.statistics import StatisticsSettings, WorthSettings


def statistics_options(asked: StatisticsSettings, words: VerdictWords) -> StatisticsOptions:
    """Of statistics over these verdicts."""
    return StatisticsOptions(
        scale=scale_of(words),
        by_panel="panel" in asked.by,
        simulated=asked.include_simulated,
        stale="stale" in asked.include,
        synthetic="synthetic" in asked.include,
        random_labels=asked.random_labels,
        epsilon=asked.epsilon,
        resamples=asked.resamples,
        seed=asked.seed,
    )


def gate_options(asked: GateSettings, words: VerdictWords) -> GateOptions:
    """Of a gate, or a plan, over these verdicts."""
    return GateOptions(
        metric=asked.metric,
        margin=asked.margin,
        worse=asked.worse,
        paired=PairedOptions(
            scale=scale_of(words),
            simulated=asked.include_simulated,
            stale="stale" in asked.include,
            synthetic="synthetic" in asked.include,
        ),
        resamples=asked.resamples,
        seed=asked.seed,
    )


def calibration_options(
    asked: CalibrationSettings, words: VerdictWords, cases: Mapping[str, Collection[str]]
) -> CalibrationOptions:
    """Of a calibration over these verdicts.

    Args:
        cases: the ids in the files of `asked.named_parts`.
    """
    return CalibrationOptions(
        risk=asked.risk,
        confidence=asked.confidence,
        on=asked.on,
        signal=asked.signal,
        split=asked.split,
        cases=cases,
        seed=asked.seed,
        scale=scale_of(words),
        simulated=asked.include_simulated,
    )


def ladder_options(asked: CalibrationSettings, words: VerdictWords) -> LadderOptions:
    """Of a ladder over these verdicts."""
    split = asked.split or (0.0, 100.0, 0.0)
    promises = asked.promises
    return LadderOptions(
        promises=Promises(
            passes=promises.get("pass"),
            fails=promises.get("fail"),
            missed=promises.get("missed"),
            confidence=asked.confidence,
        ),
        split=(split[1], split[2]),
        seed=asked.seed,
        scale=scale_of(words),
        simulated=asked.include_simulated,
    )


def worth_options(asked: WorthSettings, words: VerdictWords) -> WorthOptions:
    """Of the worth of seats and rounds, over these verdicts."""
    return WorthOptions(scale=scale_of(words), simulated=asked.include_simulated, orders=asked.orders, seed=asked.seed)


def scale_of(words: VerdictWords) -> Scale:
    """The categories of these verdicts."""
    return Scale(words.categories, words.ordered) if words.labels_of is None else Scale.of_labels(words.labels_of)
