"""Every death of an actor is counted once, by whatever it is seen."""

from hypothesis import given
from hypothesis import strategies as st

from jury_actors.death_count import DeathCount


def test_a_death_that_both_show_is_one() -> None:
    count = DeathCount()

    assert [1, 0, 0] == [count.lost(), count.restarted(0), count.restarted(1)]


def test_deaths_that_no_connection_showed_are_counted_by_the_restarts() -> None:
    count = DeathCount()

    assert [1, 3, 0, 1] == [count.lost(), count.restarted(4), count.lost(), count.restarted(5)]
    assert 5 == count.total


@given(st.lists(st.booleans()))
def test_every_death_is_counted_once_whichever_of_them_a_connection_shows(shown: list[bool]) -> None:
    count = DeathCount()
    found = 0
    for number, one in enumerate(shown, 1):
        found += count.lost() if one else 0
        found += count.restarted(number)

    assert len(shown) == found == count.total
