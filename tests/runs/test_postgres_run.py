"""`jury run` on PostgreSQL: the verdicts of a run on SQLite, killed or not."""

import pytest

from support.command import Command, Started


@pytest.mark.full
def test_a_run_on_postgresql_gives_the_verdicts_of_one_on_sqlite(
    postgres_command: Command, undisturbed: Started
) -> None:
    ran = postgres_command.call("--in-process")

    assert ran.process.returncode == 0, ran.stderr
    assert undisturbed.lines == ran.lines
    assert postgres_command.verified() == 0


@pytest.mark.full
@pytest.mark.kill
def test_a_run_on_postgresql_that_was_killed_comes_to_the_same_end(
    postgres_command: Command, undisturbed: Started
) -> None:
    running = postgres_command.start("--in-process", "--simulate", "latency=0.1")
    running.comes_to(60, postgres_command)
    running.kill_everything()
    ran = postgres_command.call("--in-process")

    assert undisturbed.lines == ran.lines
    assert postgres_command.verified() == 0


@pytest.mark.full
@pytest.mark.ray
def test_a_run_on_ray_and_postgresql_gives_the_same_verdicts_too(
    postgres_command: Command, undisturbed: Started, cluster_address: str
) -> None:
    ran = postgres_command.call("--ray-address", cluster_address)

    assert ran.process.returncode == 0, ran.stderr
    assert undisturbed.lines == ran.lines
