"""Every figure of `reference_analytics.json` that `jury stats` and `jury compare` have, as the commands print it, and
those of `reference_steps.json`."""

import json
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from support.command_line import CommandLine
from support.reference_data import FOLDER, needs_reference_data, reference, reference_rows
from support.vote_rows import table_of

pytestmark = needs_reference_data

TRIVIAQA = ("--label", "human_label", "--cluster", "question")
QUICK = ("--resamples", "0")

Rows = Callable[[], list[dict[str, Any]]]


class Votes(NamedTuple):
    """A file of the folder, with how it is read; `rows` where the file lacks the column of its clusters."""

    file: str
    options: tuple[str, ...] = ()
    rows: Rows | None = None
    seats: Mapping[str, str] = {}
    """Names of seats in the file by names in the reference, where they differ."""


def mtbench() -> list[dict[str, Any]]:
    return [{**row, "task": row["item_id"].split("__")[0]} for row in reference_rows("b3_alttest_mtbench")]


AGREEMENT = {
    "triviaqa_nine_llm_judges": Votes("b2_triviaqa_judges", TRIVIAQA),
    "triviaqa_panel3": Votes("b2_triviaqa_judges", TRIVIAQA),
    "xstest_four_raters": Votes(
        "b4_xstest",
        ("--judges", "human.annotator_*", "--judges", "judges.*", "--cluster", "prompt"),
        seats={"a1": "1", "a2": "2"},
    ),
    "mtbench_six_llm": Votes("b3_alttest_mtbench", ("--judges", "llm.*", "--cluster", "task"), mtbench),
    "rjudge_three": Votes("b1_rjudge_recorded_judges", ("--label", "human_label")),
}


def stats(jury: CommandLine, votes: Votes, *options: str) -> Any:
    """The statistics of the only panel of the report."""
    file = str(FOLDER / f"{votes.file}.jsonl") if votes.rows is None else jury.write("votes.jsonl", *votes.rows())
    reading, counting = _parted(options)
    outcome = jury("stats", table_of(jury, file, *votes.options, *reading), *counting, "--json")
    assert 0 == outcome.code, outcome.err
    (panel,) = outcome.json["panels"]
    return panel


def _parted(options: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The options, each with a value, of `jury votes`, and those of `jury stats`."""
    reading: list[str] = []
    counting: list[str] = []
    for name, value in zip(options[::2], options[1::2], strict=True):
        (counting if name in {"--seats", "--resamples", "--epsilon"} else reading).extend((name, value))
    return reading, counting


def figure(expected: float) -> Any:
    return pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", AGREEMENT)
def test_agreement(jury: CommandLine, name: str) -> None:
    votes, expected = AGREEMENT[name], reference(name)
    seats = {one: votes.seats.get(one, one) for one in expected["raters"]}
    # The bounds of the reference are of 10,000 resamples; with nine seats, 2,000 are near enough and five times faster.
    resamples = "2000" if len(seats) == 9 else "10000"

    found = stats(
        jury, votes, "--seats", ",".join(seats.values()), "--order", ",".join(expected["order"]),
        "--resamples", resamples,
    )  # fmt: skip

    agreement = found["agreement"]
    assert (expected["n"], expected["n_clusters"]) == (found["debates"], found["clusters"])
    assert expected["n_complete"] == agreement["fleiss"]["n"]
    names = {
        "alpha_nominal": "alpha_nominal",
        "alpha_ordinal": "alpha_ordinal",
        "ac1": "ac1",
        "ac2": "ac2_ordinal",
        "fleiss": "fleiss_complete",
    }
    known = {ours: expected[theirs] for ours, theirs in names.items() if theirs in expected}
    assert {ours: figure(value) for ours, value in known.items()} == {ours: agreement[ours]["value"] for ours in known}
    for coefficient in ("alpha_nominal", "alpha_ordinal"):
        bounds = expected.get(f"ci95_{coefficient}_clusters_bootstrap_10000")
        if bounds is not None:
            interval = agreement[coefficient]["interval"]
            assert bounds == pytest.approx([interval["low"], interval["high"]], abs=0.005)
    pairs = {frozenset(pair["seats"]): pair["weighted_kappa"] for pair in agreement["pairs"]}
    for key, value in (expected.get("pairwise_kappa_linear") or expected["pairwise_kappa"]).items():
        if key == "mean":
            assert figure(value) == fmean(pair["value"] for pair in pairs.values())
            continue
        both, (kappa, n) = value if key in {"min", "max"} else (key, value)
        pair = pairs[frozenset(seats[one] for one in both.split("|"))]
        assert (figure(kappa), n) == (pair["value"], pair["n"])


def nine_judges(jury: CommandLine, *options: str) -> Any:
    seats = ",".join(reference("triviaqa_nine_llm_judges")["raters"])
    called = ("--seats", seats, "--order", "incorrect,correct", *options)
    return stats(jury, AGREEMENT["triviaqa_nine_llm_judges"], *called)


def test_by_item_the_interval_is_too_narrow(jury: CommandLine) -> None:
    expected = reference("triviaqa_nine_llm_judges")["ci95_alpha_nominal_items_bootstrap_10000"]

    interval = nine_judges(jury, "--cluster", "item_id")["agreement"]["alpha_nominal"]["interval"]

    assert expected == pytest.approx([interval["low"], interval["high"]], abs=0.005)


def test_confidence_of_the_vote_share(jury: CommandLine) -> None:
    expected = reference("calibration_triviaqa_nine")

    found = nine_judges(jury, *QUICK)

    (curve,) = found["confidence"]["curves"]
    assert (expected["n"], expected["undecided"]) == (curve["n"], found["against_labels"]["panel"]["no_verdict"])
    names = {
        "accuracy": "accuracy",
        "mean_confidence": "mean_confidence",
        "ece": "ece10_equal_width_right_closed",
        "brier": "brier",
        "auroc": "auroc",
    }
    assert {ours: figure(expected[theirs]) for ours, theirs in names.items()} == {
        ours: curve[ours]["value"] for ours in names
    }
    bins = [one for one in curve["bins"] if one["n"]]
    for (share, known), one in zip(expected["reliability"].items(), bins, strict=True):
        assert (known["n"], known["right"]) == (one["n"], one["right"])
        assert (figure(float(share)), figure(known["rate"])) == (one["mean_confidence"], one["rate"]["value"])
        assert [figure(bound) for bound in known["wilson95"]] == [
            one["rate"]["interval"]["low"], one["rate"]["interval"]["high"],
        ]  # fmt: skip


@pytest.mark.parametrize("name", ["nine", "panel3"])
def test_effective_votes(jury: CommandLine, name: str) -> None:
    expected = reference(f"effective_votes_triviaqa_{name}")
    seats = reference("triviaqa_nine_llm_judges" if name == "nine" else "triviaqa_panel3")["raters"]
    called = ("--seats", ",".join(seats), "--order", "incorrect,correct", *QUICK)

    found = stats(jury, AGREEMENT["triviaqa_nine_llm_judges"], *called)["effective_votes"]

    names = {
        "mean_phi": "mean_error_phi",
        "effective": "n_eff",
        "accuracy_if_independent": "accuracy_if_independent",
        "majority_accuracy": "accuracy_majority_complete",
        "best_seat_accuracy": "best_single_complete",
    }
    known = {ours: expected[theirs] for ours, theirs in names.items() if theirs in expected}
    assert {ours: figure(value) for ours, value in known.items()} == {ours: found[ours]["value"] for ours in known}
    assert found["complete"] == expected.get("complete_items", found["complete"])
    phis = [pair["phi"]["value"] for pair in found["pairs"]]
    assert [figure(expected["min_phi"]), figure(expected["max_phi"])] == [min(phis), max(phis)]


def test_discussion(jury: CommandLine) -> None:
    expected = reference("dynamics_mmlu")
    called = ("--field", "panel=", "--categories", "A,B,C,D", *QUICK)

    found = stats(jury, Votes("b9_mad_mmlu_rounds"), *called)

    for alpha, accuracy in zip(found["convergence"], found["discussion"]["rounds"], strict=True):
        known = expected[f"round_{alpha['round']}"]
        assert figure(known["alpha_nominal"]) == alpha["alpha_nominal"]["value"]
        assert (known["debates"], known["votes"]) == (alpha["debates"], alpha["votes"])
        assert (known["debates"], known["votes"]) == (accuracy["debates"], accuracy["votes"])
        assert (known["plurality_decided"], known["plurality_right"]) == (accuracy["decided"], accuracy["right"])
    for step in found["discussion"]["steps"]:
        known, gain = expected[f"round_{step['from_round']}_to_{step['to_round']}"], step["net_gain"]
        counts = ("pairs", "right_to_right", "right_to_wrong", "wrong_to_right", "wrong_to_wrong")
        assert [known[name] for name in counts] == [gain[name] for name in counts]
        assert (known["net_gain_right"], figure(known["cluster_t_p"])) == (gain["gain"], gain["test"]["p_value"])
        assert known["changed"] == round(step["changed"]["value"] * step["pairs"])
        for peers in ("right", "wrong"):
            conformity = step[f"conformity_peers_{peers}"]
            opposed = known["opposed"]
            assert (opposed[f"peers_{peers}"], opposed[f"peers_{peers}_adopted"]) == (
                conformity["opposed"], conformity["adopted"],
            )  # fmt: skip


@pytest.mark.parametrize(
    ("file", "section", "order"),
    [
        ("b3_alttest_mtbench", "mtbench", "model_a,tie,model_b"),
        ("b3_alttest_cebab_aspects", "cebab_aspects", "Negative,unknown,Positive"),
    ],
)
def test_alternative_annotators(jury: CommandLine, file: str, section: str, order: str) -> None:
    expected = reference("alt_test")[section]
    called = ("--order", order, "--epsilon", str(expected["epsilon"]), *QUICK)
    votes = Votes(file, ("--judges", "llm.*", "--annotators", "human.*"))
    three = "plurality(gpt-4o,gemini_pro,llama-31)"

    of_all, of_three = (
        {one["seat"] or one["rater"]: one for one in stats(jury, votes, *called, *seats)["annotators"]["tests"]}
        for seats in ((), ("--seats", "gpt-4o,gemini_pro,llama-31"))
    )

    named = {name: value for name, value in expected.items() if isinstance(value, dict)}
    assert {"panel", *named} - {three} == set(of_all)
    for name, known in named.items():
        found = of_three["panel"] if name == three else of_all[name]
        assert figure(known["winning_rate"]) == found["winning_rate"]["value"]
        assert figure(known["advantage_probability"]) == found["advantage"]["value"]


STEPS = (
    *("--label", "human_label", "--cluster", "instance", "--order", "clean,faulty"),
    *("--field", "decisive_message=step", "--field", "label_message=failure_step", "--field", "message_count=steps"),
)
"""Of b11: judges and labels count steps; `outcome_correct` is read by its name."""


def counted(found: Any) -> dict[str, Any]:
    """A share as the reference has it."""
    share = None if found["value"] is None else figure(found["value"])
    return {"count": round((found["value"] or 0) * found["n"]), "of": found["n"], "share": share}


def test_faults_and_steps(jury: CommandLine) -> None:
    expected = json.loads((FOLDER / "reference_steps.json").read_text(encoding="utf-8"))

    found = stats(jury, Votes("b11_trajectory_steps", STEPS), *QUICK)

    faults = found["faults"]
    names = {
        "recall": "found",
        "silent_recall": "silent_found",
        "loud_recall": "loud_found",
        "false_alarms": "false_alarms",
        "step_exact_of_detected": "message_exact",
        "step_within_1_of_detected": "message_within_one",
        "step_exact_of_faulty": "message_exact_of_all",
    }
    assert (expected["n"], expected["clusters"], expected["faulty"]) == (
        found["debates"], found["clusters"], faults["faults"],
    )  # fmt: skip
    assert expected["judges"] == {
        one["seat"]: {theirs: counted(one[ours]) for theirs, ours in names.items()} for one in faults["seats"]
    }


def test_agreement_on_steps(jury: CommandLine) -> None:
    expected = json.loads((FOLDER / "reference_steps.json").read_text(encoding="utf-8"))["agreement_on_steps"]

    messages = stats(jury, Votes("b11_trajectory_steps", STEPS), *QUICK)["messages"]

    same = counted(messages["one_message"])
    assert (expected["cases_with_two_or_more_steps"], expected["all_name_one_step"]) == (same["of"], same["count"])
    # The reference calls a plurality strict where it is more than half of the judges that name a step.
    assert expected["strict_plurality_step_right"] == counted(messages["majority_right"])
    assert (1.0, 106) == (messages["plurality_right"]["value"], messages["plurality_right"]["n"])
    assert [1.0] * 6 == [pair["right"]["value"] for pair in messages["pairs"]]
