"""Which scenario a kind of fault has."""

from chaos.batch_scenario import play_batched
from chaos.batch_storm import play_stormed
from chaos.ground import Ground
from chaos.scenario import Scenario, ScenarioReport
from chaos.scenario import play as play_run
from chaos.server_scenario import play_served
from chaos.strikes import KINDS


def play(ground: Ground, scenario: Scenario) -> ScenarioReport:
    """Run it to its end, and look at everything that it left.

    Raises:
        CannotStrike: this machine cannot make the fault; says why.
    """
    play_kind = {"served": play_served, "batches": play_batched, "storm": play_stormed}.get(
        KINDS[scenario.kind].where, play_run
    )
    return play_kind(ground, scenario)
