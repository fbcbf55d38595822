"""`--settings FILE`: options of a command from a file; the command line wins over the environment, and that over it."""

import pytest


def test_a_run_takes_its_settings_from_a_file_and_options_win(jury, cases):
    jury.write(
        "run.yaml",
        "run: nightly\npreset: independent\nlimit: 2\nstore: sqlite:///other.db\nfail_on: [safe_pass]\n"
        "simulate: {latency: 0.001, seed: 7}\nfield: {response: response}\nreplicas: auto\nin_process: true\n",
    )

    outcome = jury("run", cases, "--settings", "run.yaml", "--jsonl")
    other = jury("run", cases, "--limit", "1", "--settings", "run.yaml", "--run", "r2", "--jsonl")

    assert (1, 2) == (outcome.code, len(outcome.lines))
    assert {("nightly", "independent")} == {(line["run_id"], line["panel"]) for line in outcome.lines}
    assert [("r2", "polite")] == [(line["run_id"], line["case_id"]) for line in other.lines]
    assert (jury.folder / "other.db").exists()
    assert not (jury.folder / "jury.db").exists()


def test_a_variable_wins_over_the_file_and_an_option_over_both(jury, cases):
    jury.write("run.yaml", "method: median\nmax_rounds: 1\nstore: sqlite:///file.db\nlimit: 1\n")
    env = {"JURY_FINAL_JUDGMENT_METHOD": "majority_vote", "JURY_STORE_URL": "sqlite:///variable.db"}
    call = ("run", "--in-process", cases, "--settings", "run.yaml", "--jsonl")

    methods = [
        jury(*call).lines[0]["method"],
        jury(*call, env=env).lines[0]["method"],
        jury(*call, "--method", "weighted_average", env=env).lines[0]["method"],
    ]

    assert ["median", "majority_vote", "weighted_average"] == methods
    assert (jury.folder / "variable.db").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limit: 1\nmax_cots: 5\n", "run.yaml:2: max_cots: there is no such setting (did you mean max_cost?)"),
        ("limit: 1\nmax_rounds: 500\n", "run.yaml:2: max_rounds: Input should be less than or equal to 100"),
        ("method: medain\n", "run.yaml:1: method: Input should be 'majority_vote', 'weighted_average', 'median' or "),
        ("where:\n- tags~a\n- tags\n", "run.yaml:1: where: 'tags' is not a condition"),
        ("threshold: 67\n", "run.yaml:1: threshold: 67 is not a threshold (did you mean 0.67?)"),
        ("limit: 1\nlimit: 2\n", "run.yaml:2: the key 'limit' is twice in one table; keep one of them"),
        ("- limit\n", "run.yaml: must be a table of settings, as in max_cost: 5"),
        ("as_json: true\n", "run.yaml:1: as_json: there is no such setting"),
    ],
)
def test_what_cannot_be_a_setting_is_named_with_its_line(jury, cases, text, said):
    jury.write("run.yaml", text)

    outcome = jury.run(cases, "--settings", "run.yaml")

    assert (2, "") == (outcome.code, outcome.out)
    assert outcome.err.startswith(f"jury: {said}")
    assert not (jury.folder / "jury.db").exists()


def test_a_file_that_is_not_there_is_named(jury, cases):
    outcome = jury.run(cases, "--settings", "run.yaml")

    assert (2, "jury: run.yaml: there is no such settings file\n") == (outcome.code, outcome.err)


def test_rules_between_settings_hold_whether_they_are_given_here_or_there(jury, cases):
    jury.write("run.yaml", "ray: true\n")

    outcome = jury("run", cases, "--in-process", "--settings", "run.yaml")

    assert (2, "") == (outcome.code, outcome.out)
    assert "--in-process does without Ray: leave out either it, or --ray and --ray-address" in outcome.err


def test_a_probe_takes_the_settings_that_it_shares_with_a_run(jury, cases):
    jury.write("run.yaml", "preset: independent\nin_process: true\nlimit: 1\nmax_calls: 100\n")
    jury.write("other.yaml", "repeat: 2\n")

    outcome = jury("probe", cases, "--probe", "length", "--settings", "run.yaml", "--include-simulated")
    refused = jury("probe", cases, "--probe", "length", "--settings", "other.yaml")

    assert 0 == outcome.code
    assert 2 == refused.code
    assert refused.err.startswith("jury: other.yaml:1: repeat: there is no such setting")
