"""Ladders of simulated panels under certificates made by hand: what they promise is made up."""

from collections.abc import Mapping
from pathlib import Path

from jury_debate import panel_digest, prompts_digest
from jury_events import CertifiedStage, LadderCertificate, OutcomeThreshold, ShareSignal
from jury_judge import Ladder, LoadedPanel, RunPlan, RunSettings, applied, first_of, load_panel, uncertified
from support.ladder_votes import write_ladder

Accepts = Mapping[str, float]
"""Thresholds by outcome."""


def panel_file(folder: Path, name: str, *jurors: str) -> Path:
    """A panel of simulated jurors that vote without discussion."""
    path = folder / f"{name}.yaml"
    seats = "".join(f"  - {{model: simulated/reader, juror_id: {juror}}}\n" for juror in jurors)
    path.write_text(f"preset: independent\nname: {name}\nseats:\n{seats}")
    return path


def a_certificate(stages: list[LoadedPanel], *accepts: Accepts) -> LadderCertificate:
    """Of these panels; `accepts` are the thresholds of all but the last."""
    return LadderCertificate(
        digest="c" * 64,
        stages=tuple(
            CertifiedStage(
                panel=panel_digest(one.panel),
                prompts=prompts_digest(one.resolved.role_prompts, one.resolved.judge_prompt, one.resolved.prompts),
                signal=ShareSignal(),
                thresholds=tuple(
                    OutcomeThreshold(outcome=outcome, threshold=threshold, risk=0.1)  # type: ignore[arg-type]
                    for outcome, threshold in of.items()
                ),
            )
            for one, of in zip(stages, (*accepts, {}), strict=True)
        ),
        missed=None,
        confidence=0.9,
    )


def a_ladder(folder: Path, *accepts: Accepts, audit: float = 0.0, certified: bool = True) -> Ladder:
    """Of two seats, of three where there are three stages, and of four; `accepts` of every stage but the last."""
    jurors = [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")]
    chosen = jurors if len(accepts) == len(jurors) - 1 else [jurors[0], jurors[-1]]
    names = ("cheap", "strong", "whole")
    stages = [load_panel(str(panel_file(folder, name, *seats)), {}) for name, seats in zip(names, chosen, strict=False)]
    if not certified:
        return uncertified(stages)
    return applied(stages, a_certificate(stages, *accepts), audit)


def ladder_file(folder: Path) -> Path:
    """The file of a ladder of two seats and of four, whose first stage accepts what both say; no label is real."""
    panels = [panel_file(folder, "cheap", "a", "b"), panel_file(folder, "whole", "a", "b", "c", "d")]
    write_ladder(folder / "ladder.json", [load_panel(str(one), {}).resolved for one in panels])
    path = folder / "ladder.yaml"
    path.write_text("stages: [{panel: cheap.yaml}, {panel: whole.yaml}]\ncertificate: ladder.json\naudit: 0\n")
    return path


def staged(cases: Path, store: str, ladder: Ladder, **settings: object) -> RunPlan:
    """The run of a ladder over a file of cases."""
    asked = RunSettings.of(**{"run_id": "r", "store_url": store, "in_process": True, **settings})
    return RunPlan(asked.files([str(cases)]), asked, loaded=first_of(ladder), environ={})
