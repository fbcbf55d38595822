"""Totals over actors that are replaced, and of their runtimes."""

from jury_actors import (
    ACTORS_REPLACED,
    CALL_SECONDS,
    CALLS,
    CALLS_IN_FLIGHT,
    HistogramCounts,
    MetricTotals,
    Tallies,
    TallySnapshot,
)

LABELS = ("p", "m", "answered")
KEY = CALLS.name, LABELS


def counted(calls: int, in_flight: int = 0) -> TallySnapshot:
    tallies = Tallies()
    tallies.add(CALLS, LABELS, calls)
    tallies.observe(CALL_SECONDS, 0.07, ("p", "m"))
    tallies.read_at_snapshots(CALLS_IN_FLIGHT, lambda: [(("p",), float(in_flight))])
    return tallies.snapshot()


def test_counters_do_not_go_backwards_when_an_actor_is_replaced() -> None:
    totals, seen = MetricTotals(), []
    for incarnation, calls in (("one", 3), ("one", 7), ("two", 0), ("two", 2), ("three", 1)):
        totals.receive("runtime/juror", "juror", incarnation, counted(calls))
        seen.append(totals.snapshot().counters[KEY])

    assert [3, 7, 7, 9, 10] == seen
    assert 2 == totals.snapshot().counters[ACTORS_REPLACED.name, ("juror",)]


def test_a_snapshot_that_comes_twice_counts_once() -> None:
    totals = MetricTotals()
    for _ in range(3):
        totals.receive("runtime/juror", "juror", "one", counted(4))

    assert 4 == totals.snapshot().counters[KEY]


def test_actors_are_added_and_one_that_ended_keeps_its_counters_without_its_gauges() -> None:
    totals = MetricTotals()
    totals.receive("runtime/a", "a", "one", counted(4, in_flight=2))
    totals.receive("runtime/b", "b", "one", counted(5, in_flight=3))
    before = totals.snapshot()
    totals.end("runtime/a")
    after = totals.snapshot()

    assert (9, 9) == (before.counters[KEY], after.counters[KEY])
    assert (5, 3) == (before.gauges[CALLS_IN_FLIGHT.name, ("p",)], after.gauges[CALLS_IN_FLIGHT.name, ("p",)])
    assert 2 == sum(after.histograms[CALL_SECONDS.name, ("p", "m")].counts)


def test_a_value_on_a_bound_belongs_to_the_bucket_below_it() -> None:
    tallies = Tallies()
    for value in (0.05, 0.0500001, 1000.0):
        tallies.observe(CALL_SECONDS, value, ("p", "m"))
    found = tallies.snapshot().histograms[CALL_SECONDS.name, ("p", "m")]

    assert (1, 1, 1) == (found.counts[0], found.counts[1], found.counts[-1])
    assert HistogramCounts((1, 2), 3.0).plus(HistogramCounts((0, 1), 1.0)) == HistogramCounts((1, 3), 4.0)
