"""Notes under figures: what differs in a count only is one line."""

from jury_analysis.reasons import CLUSTERS_ARE_FEW, FEWER_CLUSTERS, NO_SUCH_LABEL, UNDEFINED_IN_SOME
from jury_views.figure_notes import FigureNotes


def test_notes_that_differ_in_a_count_are_one() -> None:
    notes = FigureNotes()

    numbers = [
        notes.add(note)
        for note in (
            CLUSTERS_ARE_FEW(n=18, least=30),
            FEWER_CLUSTERS(n=1, least=10),
            NO_SUCH_LABEL(name="A1"),
            CLUSTERS_ARE_FEW(n=11, least=30),
            UNDEFINED_IN_SOME(n=3, all=2000),
            FEWER_CLUSTERS(n=9, least=10),
            NO_SUCH_LABEL(name="A2"),
            UNDEFINED_IN_SOME(n=3, all=2000),
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
    assert "クラスターが11–18件（30件未満）のため、区間が狭すぎる可能性があります" == notes.lines()[0].text("ja")


def test_one_cluster_is_no_plural() -> None:
    notes = FigureNotes()
    notes.add(FEWER_CLUSTERS(n=1, least=10))

    assert ["no interval: 1 cluster, fewer than 10"] == notes.lines()
