"""Lists stand in columns, also with wide characters, with numbers at their ends."""

from rich.cells import cell_len

from jury_cli.views.aligned import AlignedColumn, AlignedLines, display_width
from support.command_line import CommandLine

QUESTION = {"question": "Refund it.", "response": "Done."}


def test_wide_characters_take_two_columns() -> None:
    assert (3, 4, 5) == (display_width("abc"), display_width("返金"), display_width("é返金"))
    for text in ("返金-17", "ｶﾅ と ＡＢ", "e\u0301", "한국", "\U0001f600", "…–×"):
        assert cell_len(text) == display_width(text), text


def test_columns_begin_below_each_other_and_numbers_end_there() -> None:
    made = AlignedLines((AlignedColumn(), AlignedColumn(right=True), AlignedColumn()))

    assert ["返金      7  x", "ab    1,000"] == list(made.lines([("返金", "7", "x"), ("ab", "1,000", "")]))
    assert ["c         5  y"] == list(made.lines([("c", "5", "y")]))


def test_one_very_long_cell_moves_its_own_line_alone() -> None:
    made = AlignedLines((AlignedColumn(), AlignedColumn()))

    long, short = made.lines([("x" * 200, "end"), ("x", "end")])

    assert "x" * 200 + "  end" == long
    assert 60 + 2 + 3 == len(short)


def test_the_lists_of_debates_and_runs_are_aligned(jury: CommandLine) -> None:
    few = jury.write("few.jsonl", {"case_id": "返金-17", **QUESTION}, {"case_id": "a", **QUESTION})
    many = jury.write("many.jsonl", *({"case_id": f"case-{n}", **QUESTION} for n in range(11)))
    assert 0 == jury.run(few, "--run", "r").code
    assert 0 == jury.run(many, "--run", "longer-name").code

    debates = jury("list").out.splitlines()
    cases = [row["case_id"] for row in jury("list", "--json").json]
    runs, executed = (jury(*command).out.splitlines() for command in (("list", "--runs"), ("runs",)))

    assert 1 == len({display_width(line[: line.rindex(case)]) for line, case in zip(debates, cases, strict=True)})
    for lines in (runs, executed):
        assert 2 == len(lines)
        for word in (" debates over:", " safe_pass,", " needs_review,", " unsafe_fail"):
            assert 1 == len({line.index(word) for line in lines}), lines
