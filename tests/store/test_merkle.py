"""The tree of RFC 6962: the published vectors, and every proof of small trees."""

from hashlib import sha256

import pytest

from jury_store import EMPTY_ROOT, Frontier, consistency_proof, inclusion_proofs, is_consistent, is_included

# The test vectors that the implementations of Certificate Transparency share.
LEAVES = [
    bytes.fromhex(one)
    for one in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
A, B = (
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
)
C, D = (
    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
)
E, F = (
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
)
MANY = [sha256(b"%d" % n).digest() for n in range(70)]


def _frontier(leaves: list[bytes]) -> Frontier:
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier


def _root(leaves: list[bytes]) -> bytes:
    """The definition of the RFC, word for word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\0" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha256(b"\1" + _root(leaves[:half]) + _root(leaves[half:])).digest()


def test_roots_are_the_published_ones(subtests: pytest.Subtests) -> None:
    for size in range(9):
        with subtests.test(size=size):
            assert ROOTS[size] == _frontier(LEAVES[:size]).root.hex()


def test_roots_are_what_the_rfc_defines() -> None:
    frontier = Frontier()
    for size, leaf in enumerate(MANY):
        assert _root(MANY[:size]) == frontier.root
        frontier.append(leaf)


INCLUSION = [(0, 1, []), (0, 8, [A, B, C]), (5, 8, [D, E, ROOTS[4]]), (2, 3, [ROOTS[2]]), (1, 5, [ROOTS[1], B, D])]


def test_inclusion_proofs_are_the_published_ones(subtests: pytest.Subtests) -> None:
    for index, size, proof in INCLUSION:
        with subtests.test(index=index):
            found = inclusion_proofs(LEAVES, size, [index])[index]

            assert proof == [node.hex() for node in found]


CONSISTENCY = [(1, 1, []), (1, 8, [A, B, C]), (6, 8, [F, E, ROOTS[4]]), (2, 5, [B, D]), (0, 5, [])]


def test_consistency_proofs_are_the_published_ones(subtests: pytest.Subtests) -> None:
    for old, new, proof in CONSISTENCY:
        with subtests.test(old=old):
            assert proof == [node.hex() for node in consistency_proof(LEAVES, old, new)]


def test_a_frontier_continues_another() -> None:
    for size in range(len(MANY)):
        before = _frontier(MANY[:size])
        after = Frontier(before.size, before.peaks)
        for leaf in MANY[size:]:
            after.append(leaf)

        assert _frontier(MANY).root == after.root


WRONG_PEAKS = [(1, b""), (0, bytes(32)), (3, bytes(32)), (4, bytes(31)), (-1, bytes(32))]


def test_a_wrong_number_of_peaks_is_refused(subtests: pytest.Subtests) -> None:
    for size, peaks in WRONG_PEAKS:
        with subtests.test(size=size), pytest.raises(ValueError, match="peaks"):
            Frontier(size, peaks)


def test_every_leaf_of_every_small_tree_is_proved_and_no_other_accepted() -> None:
    for size in range(1, 36):
        root = _root(MANY[:size])
        proofs = inclusion_proofs(iter(MANY), size, range(size))
        for index, proof in proofs.items():
            assert is_included(MANY[index], index, size, proof, root)
            assert not is_included(MANY[index + 1], index, size, proof, root)
            assert not any(is_included(MANY[index], i, size, proof, root) for i in range(-1, size + 1) if i != index)
            assert not is_included(MANY[index], index, size, proof[:-1] if proof else (bytes(32),), root)
            assert not is_included(MANY[index], index, size, (*proof, bytes(32)), root)
            assert not is_included(MANY[index], index, size, proof, bytes(32))


def test_every_prefix_of_every_small_tree_is_proved_and_no_other_accepted() -> None:
    for new in range(36):
        new_root = _root(MANY[:new])
        for old in range(new + 1):
            old_root = _root(MANY[:old])
            proof = consistency_proof(iter(MANY), old, new)

            assert is_consistent(old, old_root, new, new_root, proof)
            assert not is_consistent(old, bytes(32), new, new_root, proof)
            assert not is_consistent(old, old_root, new, new_root, (*proof, bytes(32)))
            if old not in {0, new}:
                assert not is_consistent(old, old_root, new, bytes(32), proof)
                assert not is_consistent(old, _root(MANY[1 : old + 1]), new, new_root, proof)


def test_a_proof_damaged_in_any_node_is_refused() -> None:
    root = _root(MANY)
    proof = inclusion_proofs(MANY, 70, [41])[41]
    steps = consistency_proof(MANY, 41, 70)
    for at in range(len(proof)):
        assert not is_included(MANY[41], 41, 70, (*proof[:at], bytes(32), *proof[at + 1 :]), root)
        assert not is_included(MANY[41], 41, 70, (*proof[:at], proof[at][:31], *proof[at + 1 :]), root)
    for at in range(len(steps)):
        assert not is_consistent(41, _root(MANY[:41]), 70, root, (*steps[:at], bytes(32), *steps[at + 1 :]))


def test_paths_of_large_trees_are_short() -> None:
    assert not is_included(bytes(32), 2**62, 2**63 - 1, [bytes(32)] * 62, bytes(32))
    assert not is_consistent(2**62 + 5, bytes(32), 2**63 - 1, bytes(32), [bytes(32)] * 62)
    assert not is_consistent(5, bytes(32), 3, bytes(32), [])


def test_a_proof_over_missing_hashes_is_refused() -> None:
    with pytest.raises(ValueError, match="no leaf 8"):
        inclusion_proofs(LEAVES, 8, [8])
    with pytest.raises(ValueError, match="there are 8 events"):
        inclusion_proofs(LEAVES, 9, [0])
    with pytest.raises(ValueError, match="cannot begin"):
        consistency_proof(LEAVES, 5, 3)
    with pytest.raises(ValueError, match="there are 8 events"):
        consistency_proof(LEAVES, 5, 9)


def test_nothing_is_read_beyond_what_a_proof_needs() -> None:
    reader = iter(MANY)

    inclusion_proofs(reader, 8, [0])

    assert MANY[8] == next(reader)
    assert sha256(b"").digest() == EMPTY_ROOT
