"""What certified ladders settle on recorded judges, and whether their promise holds over redraws of whole questions.

    uv run python benchmarks/ladders.py FOLDER/b2_triviaqa_judges.jsonl [--draws 500] [--splits 2000]

The file has a row an answer: `question`, `human_label` (correct, incorrect) and `judges`, a mapping of judges to
verdicts. Nothing is fetched. Two tables are printed:

1. Coverage: the share of the cases that end early, on all labels, and as the mean over half splits by question.
2. Broken promises: questions are redrawn with replacement; the whole table is the truth. The promised risks are set
   just below the true rate of each outcome at one of the stages, so that a certified threshold there is a broken
   promise. With confidence 0.9 at most a tenth of the draws may break any.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa

from jury_analysis.ballots import check
from jury_analysis.ladder_promises import Promises
from jury_analysis.ladder_report import apply_ladder, certify_ladder
from jury_analysis.ladder_use import FAILS, PASSES, LadderVotes, StageBallots, ladder_votes
from jury_analysis.scale import Scale

SEED = 20260927
SCALE = Scale(("correct", "incorrect"), ordered=True)
CHEAP, STRONG, FULL = ("Llama3-70B", "Llama3-8B"), ("GPT-4", "Llama3-70B"), ("GPT-4", "Llama3-70B", "Llama3-8B")
LADDERS = ((CHEAP, FULL), (STRONG, FULL), (CHEAP, STRONG, FULL))
RISKS = (0.1, 0.08, 0.05)


def stage_ballots(rows: Sequence[dict[str, object]], seats: Sequence[str]) -> StageBallots:
    """The votes of these judges."""
    cells = []
    for number, row in enumerate(rows):
        judges = row["judges"]
        assert isinstance(judges, dict)
        for seat in seats:
            verdict = judges.get(seat)
            cells.append(
                {
                    "debate_id": f"case-{number:05}",
                    "case_id": f"case-{number:05}",
                    "cluster": row["question"],
                    "repeat": 1,
                    "label": row["human_label"],
                    "round": 0,
                    "role": "juror",
                    "seat": seat,
                    "kind": "own" if verdict else "abstained",
                    "verdict": verdict,
                    "simulated": False,
                }
            )
    types = {"verdict": pa.string(), "label": pa.string(), "repeat": pa.int32(), "round": pa.int32()}
    table = pa.table({name: pa.array([cell[name] for cell in cells], types.get(name)) for name in cells[0]})
    return StageBallots("+".join(seats), table)


def votes_of(rows: Sequence[dict[str, object]], ladder: Sequence[Sequence[str]]) -> LadderVotes:
    """The votes of a ladder's stages."""
    stages = [stage_ballots(rows, seats) for seats in ladder]
    return ladder_votes([stage._replace(table=check(stage.table)) for stage in stages], SCALE)


def coverage(votes: LadderVotes, promises: Promises, splits: int) -> tuple[float, float]:
    """The share of the cases that end early: with all labels, and the mean over half splits, on the other half."""
    last = len(votes.stages) - 1
    whole = certify_ladder(votes, votes.labelled, promises).ends
    random, shares = np.random.default_rng(SEED), []
    number = int(votes.clusters.max()) + 1
    for _ in range(splits):
        half = np.isin(votes.clusters, random.permutation(number)[: (number + 1) // 2])
        ends = certify_ladder(votes, half, promises).ends
        shares.append(float((ends < last)[~half].mean()))
    return float((whole < last).mean()), float(np.mean(shares))


def true_rates(votes: LadderVotes, stage: int) -> dict[int, float]:
    """The share of wrong ones of the verdicts of each outcome on which all seats of a stage agree, over all cases."""
    alone = LadderVotes(
        (votes.stages[stage], votes.stages[-1]), votes.matrix, votes.labels, votes.clusters, votes.calls_known
    )
    found = apply_ladder(alone, certify_ladder(alone, alone.labelled, Promises(0.9, 0.9)).stages)
    return {one.outcome: one.wrong / one.accepted for one in found.risks}


def broken(votes: LadderVotes, promises: Promises, draws: int) -> tuple[int, int]:
    """In how many draws any promise is broken on the whole table, and in how many anything is accepted early."""
    random = np.random.default_rng(SEED)
    members = [np.flatnonzero(votes.clusters == code) for code in range(int(votes.clusters.max()) + 1)]
    breaks = accepts = 0
    for _ in range(draws):
        chosen = random.integers(0, len(members), len(members))
        units = np.concatenate([members[one] for one in chosen])
        clusters = np.repeat(np.arange(len(chosen)), [len(members[one]) for one in chosen])
        redrawn = votes.redrawn(units, clusters)
        found = certify_ladder(redrawn, redrawn.labelled, promises)
        breaks += apply_ladder(votes, found.stages).breaks(promises)
        accepts += any(stage.accepts for stage in found.stages)
    return breaks, accepts


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--splits", type=int, default=2000)
    asked = parser.parse_args()
    rows = [json.loads(line) for line in asked.file.read_text(encoding="utf-8").splitlines()]
    begun = perf_counter()
    print(f"coverage: {len(rows):,} labels, confidence 0.9, both outcomes at the same risk, {asked.splits} half splits")
    print(f"{'stages before the full jury':50}{'risk':>6}{'all':>9}{'half':>9}")
    for ladder in LADDERS:
        votes = votes_of(rows, ladder)
        name = " > ".join(stage.name for stage in votes.stages[:-1])
        for risk in RISKS:
            whole, half = coverage(votes, Promises(risk, risk), asked.splits)
            print(f"{name:50}{risk:>6}{whole:>9.1%}{half:>9.1%}", flush=True)
    print(f"\nbroken promises of {asked.draws} draws; risks just below the true rates at one stage")
    print(f"{'stages before the full jury':50}{'at':>4}{'pass':>9}{'fail':>9}{'broken':>9}{'accept':>9}")
    for ladder in LADDERS:
        votes = votes_of(rows, ladder)
        name = " > ".join(stage.name for stage in votes.stages[:-1])
        for stage in range(len(ladder) - 1):
            rates = true_rates(votes, stage)
            promises = Promises(0.999 * rates[PASSES], 0.999 * rates[FAILS])
            breaks, accepts = broken(votes, promises, asked.draws)
            share = f"{breaks / asked.draws:.1%}"
            print(
                f"{name:50}{stage + 1:>4}{rates[PASSES]:>9.4f}{rates[FAILS]:>9.4f}{share:>9}"
                f"{accepts / asked.draws:>9.1%}",
                flush=True,
            )
    print(f"\n{perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
