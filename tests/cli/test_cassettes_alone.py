"""Who has only cassettes reads and verifies them without a store."""

from support.command_line import CommandLine


def test_a_cassette_is_shown_and_verified_without_a_store(judged: CommandLine) -> None:
    judged("export", "r1~leak", "--output", "leak.cassette.jsonl")
    whole = (judged.folder / "leak.cassette.jsonl").read_text("utf-8")
    judged.write("altered.cassette.jsonl", whole.replace("unsafe_fail", "safe_pass", 1))
    here = ("--store", "sqlite:///none.db")

    shown = judged("show", "leak.cassette.jsonl", *here)
    verified = judged("verify", "leak.cassette.jsonl", "--deep", *here)
    altered = judged("verify", "altered.cassette.jsonl", *here)
    absent = judged("show", "gone.cassette.jsonl", *here)
    both = judged("verify", "leak.cassette.jsonl", "r1~leak")

    assert shown.out.startswith("✗ unsafe_fail")
    assert (0, True) == (verified.code, "1 debate replayed, and equal" in verified.out)
    assert (5, "") == (altered.code, altered.out)
    assert [2, 2] == [absent.code, both.code]
    assert not (judged.folder / "none.db").exists()


def test_a_debate_is_found_by_its_case_and_a_misspelt_id_is_named(judged: CommandLine) -> None:
    by_case = judged("show", "leak")
    of_run, of_none = judged("show", "leak", "--run", "r1"), judged("show", "leak", "--run", "r9")
    misspelt = judged("show", "r1~leek")

    assert by_case.out == of_run.out == judged("show", "r1~leak").out
    assert (2, True) == (of_none.code, "case 'leak' in the run r9; `jury list --run r9` lists" in of_none.err)
    assert (2, True) == (misspelt.code, "did you mean r1~leak?" in misspelt.err)
