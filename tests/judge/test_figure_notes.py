"""Notes under figures: what differs in a count only is one line."""

from jury_views.figure_notes import FigureNotes


def test_notes_that_differ_in_a_count_are_one() -> None:
    notes = FigureNotes()

    numbers = [
        notes.add(note)
        for note in (
            "only 18 clusters, fewer than 30: the interval may be too narrow",
            "no interval: 1 cluster, fewer than 10",
            "no unit has the label A1",
            "only 11 clusters, fewer than 30: the interval may be too narrow",
            "undefined in 3 of 2000 resamples, which the interval leaves out",
            "no interval: 9 clusters, fewer than 10",
            "no unit has the label A2",
            "undefined in 3 of 2000 resamples, which the interval leaves out",
        )
    ]

    assert [1, 2, 3, 1, 4, 2, 5, 4] == numbers
    assert [
        "only 11–18 clusters, fewer than 30: the interval may be too narrow",
        "no interval: 1–9 clusters, fewer than 10",
        "no unit has the label A1",
        "undefined in 3 of 2000 resamples, which the interval leaves out",
        "no unit has the label A2",
    ] == notes.lines()


def test_one_cluster_is_no_plural() -> None:
    notes = FigureNotes()
    notes.add("no interval: 1 cluster, fewer than 10")

    assert ["no interval: 1 cluster, fewer than 10"] == notes.lines()
