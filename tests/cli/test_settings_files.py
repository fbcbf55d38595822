"""`--settings FILE`: options of a command from a file; the command line wins over the environment, and that over it."""


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


def test_a_probe_takes_the_settings_that_it_shares_with_a_run(jury, cases):
    jury.write("run.yaml", "preset: independent\nin_process: true\nlimit: 1\nmax_calls: 100\n")
    jury.write("other.yaml", "repeat: 2\n")

    outcome = jury("probe", cases, "--probe", "length", "--settings", "run.yaml", "--include-simulated")
    refused = jury("probe", cases, "--probe", "length", "--settings", "other.yaml")

    assert 0 == outcome.code
    assert 2 == refused.code
    assert refused.err.startswith("jury: other.yaml:1: repeat: there is no such setting")
