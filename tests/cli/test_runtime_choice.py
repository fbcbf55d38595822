"""The default runtime: this process, or Ray from a number of debates on; one line says which."""

from jury_judge import RAY_FROM, RAY_FROM_READ, in_process_for
from support.each_row import each_row


@each_row(
    ("left", "in_process", "says"),
    [
        (1, True, "1 debate to run: in this process (from 10,000 on, or with --ray, on a local Ray cluster)"),
        (RAY_FROM - 1, True, "9,999 debates to run: in this process (from 10,000 on, or with --ray, "),
        (RAY_FROM, False, "10,000 debates to run: on a local Ray cluster, as from 10,000 on (--in-process does "),
        (None, False, "at least 100 debates: on a local Ray cluster (--in-process does without)"),
    ],
)
def test_the_debates_that_are_left_decide(left, in_process, says):
    chosen, line = in_process_for(left, RAY_FROM_READ, cpus=4)

    assert in_process is chosen
    assert line.startswith(says)


def test_the_first_cases_of_a_file_that_are_long_start_no_ray():
    chosen = in_process_for(None, 2, cpus=4)

    assert (True, "at least 2 debates: in this process (with --ray on a local Ray cluster)") == chosen


def test_a_run_of_a_few_debates_starts_no_ray_and_reports_it(jury, cases):
    outcome = jury("run", cases, "--run", "r1", "--jsonl")
    again = jury("run", cases, "--run", "r1", "--jsonl")

    assert outcome.code == 0
    assert "jury: 3 debates to run: in this process (" in outcome.err
    assert len(outcome.lines) == 3
    assert (outcome.out, 0) == (again.out, again.code)
    assert "to run:" not in again.err


def test_a_chosen_runtime_is_not_noted(jury, cases):
    assert "to run:" not in jury.run(cases).err
