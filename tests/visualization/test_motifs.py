import torch

from eigsearch.visualization import Names
from eigsearch.visualization.elements import formula
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.motifs import find_motifs, pieces_of
from tests.visualization.samples import MOLECULES, explained, graph, nitrobenzene


def motifs_of(explanations, names):
    pieces = [
        piece
        for number, explanation in enumerate(explanations)
        for piece in pieces_of(number, explanation, draw([explanation], names))
    ]
    return find_motifs(pieces, [explanation.target for explanation in explanations])


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


def test_a_single_edge_is_no_motif():
    assert motifs_of([keeping(nitrobenzene(), [0])], MOLECULES) == []


def test_formulas_read_as_chemists_write_them():
    assert formula(["H", "N", "H"]) == "NH₂"
    assert formula(["O", "C", "N", "O"]) == "CNO₂"
    assert formula(["C"] * 12) == "C₁₂"
