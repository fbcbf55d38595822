"""Files of tokens with names: what they may have, and what a message about them never has."""

from pathlib import Path

import pytest

from jury_events.errors import SettingError
from jury_judge.reviews.named_tokens import named_tokens

GOOD = "0123456789abcdef-long"


def test_a_file_names_people_by_their_tokens(tmp_path: Path) -> None:
    file = tmp_path / "reviewers.yaml"
    file.write_text(f"# who reviews\nann: {GOOD}\n山田: '{GOOD}2'\n", encoding="utf-8")

    assert {"ann": GOOD, "山田": f"{GOOD}2"} == named_tokens(file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "names no reviewer"),
        ("- ann\n", "names no reviewer"),
        ("ann: short-secret\n", ":1: the token of ann needs at least 16"),
        (f"ann: {GOOD}\nbob: 12345678901234567\n", ":2: the token of bob needs"),
        (f"ann: {GOOD}\nbob: {GOOD}\n", ":2: bob and ann have the same token"),
        (f"ann: {GOOD}é\n", "printable ASCII"),
        (f"12: {GOOD}\n", ":1: YAML reads a name as no text, such as no or 12; put it in quotes"),
        (f"ann: {GOOD}2\nno: {GOOD}\n", "yaml: YAML reads a name as no text"),
        (f"' ann': {GOOD}\n", ":1: a name has 1 to 300 printable characters, and no blank at either end"),
        (f'"a\\u202Eb": {GOOD}\n', ":1: a name has 1 to 300"),
        (f'"a\\tb": {GOOD}\n', ":1: a name has 1 to 300"),
        (f"ann: ' {GOOD}'\n", ":1: the token of ann needs at least 16"),
        (f"ann: '{GOOD} '\n", "no blank at either end"),
        (f"ann: {GOOD}\nann: {GOOD}2\n", ":2: not YAML"),
        (f"ann: [{GOOD}\n", "not YAML"),
    ],
)
def test_another_file_is_refused_with_its_line_and_without_a_token(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "reviewers.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingError) as refused:
        named_tokens(file)

    assert said in str(refused.value)
    assert str(refused.value).startswith(str(file))
    assert "None" not in str(refused.value)
    assert "secret" not in str(refused.value)
    assert GOOD not in str(refused.value)


def test_a_missing_file_and_other_bytes_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"none\.yaml: No such file"):
        named_tokens(tmp_path / "none.yaml")
    file = tmp_path / "bytes.yaml"
    file.write_bytes(b"ann: x\n\xff\n")
    with pytest.raises(SettingError, match=r"bytes\.yaml:2: not UTF-8"):
        named_tokens(file)
