"""Explanations to draw, made without a model."""

import torch
from torch_geometric.data import Data

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.search import Curve
from eigsearch.visualization import Names

ATOMS = ("C", "N", "O", "H")
MOLECULES = Names("Molecules", ("mutagen", "nonmutagen"), ATOMS, ("single", "double"))

# A benzene ring with a nitro group: atoms, then bonds with their order.
SYMBOLS = ("C", "C", "C", "C", "C", "C", "N", "O", "O")
RING = [(0, 1, 1), (1, 2, 2), (2, 3, 1), (3, 4, 2), (4, 5, 1), (5, 0, 2)]
BONDS = [*RING, (0, 6, 1), (6, 7, 2), (6, 8, 1)]


def graph(pairs, num_nodes=None, **fields):
    """Return an undirected graph from pairs of nodes."""
    both = [edge for u, v in pairs for edge in ((u, v), (v, u))]
    edge_index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t()
    count = num_nodes or int(edge_index.max()) + 1
    return Data(edge_index=edge_index, num_nodes=count, **fields)


def nitrobenzene(**fields):
    orders = torch.tensor([order - 1 for _, _, order in BONDS]).repeat_interleave(2)
    return graph(
        [bond[:2] for bond in BONDS],
        node_label=torch.tensor([ATOMS.index(symbol) for symbol in SYMBOLS]),
        edge_attr=torch.nn.functional.one_hot(orders, 2).float(),
        y=torch.tensor([0]),
        **fields,
    )


def explained(data, score=None, size=3, sizes=None, target=0, seed=0, **fields):
    """Return an explanation of given scores, with a curve that has made-up but distinct numbers."""
    groups = make_groups(fields.pop("groups", "auto"), data)
    count = groups.count
    generator = torch.Generator().manual_seed(seed)
    score = torch.rand(count, generator=generator) - 0.2 if score is None else torch.tensor(score)
    order = score.argsort(descending=True, stable=True)
    keep = torch.zeros(count, dtype=torch.bool)
    keep[order[:size]] = True
    tried = torch.tensor(sizes or list(range(1, max(2, count // 2 + 1))))
    kept = 0.2 + 0.6 * torch.rand(len(tried), generator=generator, dtype=torch.float64)
    removed = 0.8 * torch.rand(len(tried), generator=generator, dtype=torch.float64)
    if size in tried.tolist():
        at = tried.tolist().index(size)
        kept[at], removed[at] = 0.95, 0.11
    curve = Curve(tried, kept, removed, 0.97 - removed, 0.97 - kept)
    found = curve[tried.tolist().index(size)] if size in tried.tolist() else Curve.empty()
    config = {"task": "multiclass_classification", "search": "sweep", "sparsity": 0.5}
    config["versions"] = {"eigsearch": "0.1.0"}
    return SubgraphExplanation(
        data=data, target=target, prediction=target, value=0.97, keep=keep, score=score.double(),
        order=order, group=groups.index, curve=curve, found=found,
        **{"config": config, **fields},
    )  # fmt: skip


# Bonds 0–6, 6–7 and 6–8 of nitrobenzene lead the ranking: the nitro group and what carries it.
NITRO_SCORES = [0.3, 0.1, -0.2, 0.05, -0.1, 0.2, 1.0, 2.0, 1.5]


def nitro_explanation(**fields):
    return explained(nitrobenzene(), score=NITRO_SCORES, size=3, sizes=[1, 2, 3, 5], **fields)
