"""Records that steps read are parsed once for those that read them at about the same time, within a bound."""

from collections import Counter

from jury_debate.rules_1.evidence import KeptRecord, KeptRecords


class Parsed:
    """Records of 100 bytes by a letter; `made` counts how often each was parsed."""

    def __init__(self, most: int) -> None:
        self.made: Counter[str] = Counter()
        self._kept = KeptRecords(most)

    def read(self, letters: str) -> None:
        for letter in letters:
            self._kept.record(((letter * 43,), None, "ˆ"), lambda letter=letter: self._parse(letter))

    def _parse(self, letter: str) -> KeptRecord:
        self.made[letter] += 1
        return KeptRecord(letter.encode() * 100, None, "ˆ")


def test_a_record_is_parsed_once_while_there_is_room_for_it() -> None:
    parsed = Parsed(200)
    parsed.read("abababbbaa")

    assert {"a": 1, "b": 1} == parsed.made


def test_the_record_that_was_read_longest_ago_is_dropped_first() -> None:
    parsed = Parsed(200)
    parsed.read("aba" + "c" + "a" + "b")

    assert {"a": 1, "b": 2, "c": 1} == parsed.made


def test_a_record_that_is_larger_than_the_bound_is_kept_until_another_is_read() -> None:
    parsed = Parsed(50)
    parsed.read("aaabbba")

    assert {"a": 2, "b": 1} == parsed.made
