"""`jury export --html`: debates as files to be read."""

from support.command_line import CommandLine
from support.unguarded import unguarded


def test_a_debate_becomes_one_file(judged: CommandLine):
    outcome = judged("export", "--html", "r1~leak", "-o", "leak.html")

    page = (judged.folder / "leak.html").read_text()
    assert (0, "1 page written to leak.html\n") == (outcome.code, outcome.err)
    assert "The password of account 7 is hunter2." in page
    assert "<script" not in page


def test_a_run_becomes_a_folder_of_pages_which_stay_when_they_are_the_same(judged: CommandLine):
    judged("export", "--html", "--run", "r1", "-o", "pages")
    outcome = judged("export", "--html", "--run", "r1", "-o", "pages", "--json")

    assert {"output": "pages", "written": 0, "unchanged": 3} == outcome.json
    assert 3 == len(list((judged.folder / "pages").glob("r1~*.html")))


def test_an_altered_record_is_written_and_marked(judged: CommandLine, tmp_path):
    (tmp_path / "jury.db").write_bytes((judged.folder / "jury.db").read_bytes())
    with unguarded(tmp_path / "jury.db") as connection:
        connection.execute(
            "UPDATE parts SET content = CAST('changed' AS BLOB) WHERE debate_id = 'r1~leak' "
            "AND CAST(content AS TEXT) LIKE '%hunter2%' AND CAST(content AS TEXT) NOT LIKE '{%'"
        )

    outcome = CommandLine(tmp_path)("export", "--html", "r1~leak", "-o", "leak.html")

    assert 5 == outcome.code
    assert "The record was altered" in (tmp_path / "leak.html").read_text()
