import torch
from networkx.algorithms.isomorphism import GraphMatcher

from eigsearch.visualization import Names
from eigsearch.visualization.elements import formula
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.matching import Matcher
from eigsearch.visualization.motifs import find_motifs, pieces_of
from tests.visualization.samples import MOLECULES, explained, graph, nitrobenzene


def random_pieces(seed):
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randint(0, 7, (8, 2), generator=generator).tolist()
    pairs = list({(min(u, v), max(u, v)) for u, v in ends if u != v})
    explanation = keeping(graph(pairs, 7), range(len(pairs)))
    return pieces_of(0, explanation, draw([explanation], Names()))


def motifs_of(explanations, names, matcher=None):
    pieces = [
        piece
        for number, explanation in enumerate(explanations)
        for piece in pieces_of(number, explanation, draw([explanation], names))
    ]
    return find_motifs(pieces, [explanation.target for explanation in explanations], matcher)


def keeping(data, kept, target=0):
    """Return an explanation that keeps exactly the given bonds."""
    score = [1.0 if group in kept else 0.0 for group in range(data.num_edges // 2)]
    return explained(data, score=score, size=len(kept), target=target)


def test_a_nitro_group_is_found_alone_and_inside_a_larger_piece():
    found = motifs_of(
        [
            keeping(nitrobenzene(), [7, 8]),
            keeping(nitrobenzene(), [6, 7, 8, 0]),
            keeping(nitrobenzene(), [0, 1, 2], target=1),
        ],
        MOLECULES,
    )
    assert {motif.name: motif.items for motif in found}["NO₂"] == (0, 1)
    assert found[0].items == (0, 1)  # what tells the classes apart comes first


def test_pieces_that_differ_only_in_their_atoms_are_different_motifs():
    pairs = [(0, 1), (1, 2)]
    one = graph(pairs, node_label=torch.tensor([2, 1, 2]))
    other = graph(pairs, node_label=torch.tensor([3, 1, 3]))
    found = motifs_of([keeping(one, [0, 1]), keeping(other, [0, 1])], MOLECULES)
    assert sorted(motif.name for motif in found) == ["NH₂", "NO₂"]


def test_graphs_that_a_hash_cannot_tell_apart_are_told_apart_exactly():
    ten = [(i, (i + 1) % 10) for i in range(10)]
    two_fives = [(i, (i + 1) % 5) for i in range(5)] + [(5 + i, 5 + (i + 1) % 5) for i in range(5)]
    both = [graph([*ten, (0, 5)]), graph([*two_fives, (0, 5)])]
    explanations = [keeping(data, list(range(11))) for data in both]
    one, other = (pieces_of(0, ex, draw([ex], Names()))[0] for ex in explanations)
    assert one.code == other.code
    assert sorted(motif.items for motif in motifs_of(explanations, Names())) == [(0,), (1,)]


def test_shapes_of_plain_graphs_have_names():
    cycle = graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    star = graph([(0, 1), (0, 2), (0, 3)])
    path = graph([(0, 1), (1, 2), (2, 3)])
    kept = [keeping(cycle, [0, 1, 2, 3, 4]), keeping(star, [0, 1, 2]), keeping(path, [0, 1, 2])]
    names = {motif.name for motif in motifs_of(kept, Names())}
    assert names == {"cycle of 5", "star of 3 edges", "path of 3 edges"}


def test_only_small_pieces_are_sought_inside_others():
    ten, eleven, twelve = (
        keeping(graph([(i, i + 1) for i in range(edges)]), range(edges)) for edges in (10, 11, 12)
    )
    found = motifs_of([ten, eleven, twelve, eleven], Names())
    assert {motif.name: motif.items for motif in found} == {
        "path of 10 edges": (0, 1, 2, 3),
        "path of 11 edges": (1, 3),
        "path of 12 edges": (2,),
    }


def star_of(leaves):
    return keeping(graph([(0, leaf) for leaf in range(1, leaves + 1)]), range(leaves))


def test_contains_symmetric_piece_stops_at_its_limit():
    """A complete bipartite graph has no odd cycle, and every attempt fails at its end."""
    grid = keeping(graph([(u, 20 + v) for u in range(12) for v in range(12)]), range(144))
    odd = keeping(graph([(i, (i + 1) % 9) for i in range(9)]), range(9))  # no odd cycle in there
    matcher = Matcher(most_steps=500)
    found = motifs_of([grid, odd], Names(), matcher)
    assert matcher.limited
    assert {motif.name: motif.items for motif in found}["cycle of 9"] == (1,)


def test_find_motifs_when_no_steps_are_left_still_groups_equal_pieces():
    matcher = Matcher(in_all=0)
    found = motifs_of([star_of(3), star_of(3), star_of(4)], Names(), matcher)
    assert {motif.name: motif.items for motif in found} == {
        "star of 3 edges": (0, 1),
        "star of 4 edges": (2,),
    }
    assert matcher.limited


def test_matcher_within_its_limit_agrees_with_networkx():
    pieces = [piece for seed in range(8) for piece in random_pieces(seed)]
    matcher = Matcher()
    for left in pieces:
        for right in pieces:
            exact = GraphMatcher(left.graph, right.graph).subgraph_is_monomorphic()
            assert matcher.contains(left.graph, right.graph) == exact
    assert not matcher.limited


def test_a_single_edge_is_no_motif():
    assert motifs_of([keeping(nitrobenzene(), [0])], MOLECULES) == []


def test_formulas_read_as_chemists_write_them():
    assert formula(["H", "N", "H"]) == "NH₂"
    assert formula(["O", "C", "N", "O"]) == "CNO₂"
    assert formula(["C"] * 12) == "C₁₂"
