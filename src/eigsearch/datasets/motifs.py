"""Number the motifs of a graph: connected components of its ground-truth edges."""

import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch_geometric.data import Data


def number_motifs(data: Data) -> Data:
    """Return the graph with `node_motif` and `edge_motif`: a motif's number from 0, or -1 outside.

    A motif is a connected component of the edges that `edge_label` marks, so the true edges for the
    node `v` are `data.edge_motif == data.node_motif[v]`.
    """
    motif_edges = data.edge_index[:, data.edge_label]
    component = _components(motif_edges, data.num_nodes)
    node_motif = torch.full((data.num_nodes,), -1)
    members = motif_edges.unique()
    node_motif[members] = component[members].unique(return_inverse=True)[1]
    data.node_motif = node_motif
    data.edge_motif = torch.where(data.edge_label, node_motif[data.edge_index[0]], -1)
    return data


def _components(edge_index: Tensor, num_nodes: int) -> Tensor:
    row, col = edge_index.numpy()
    adjacency = coo_matrix((torch.ones(len(row)), (row, col)), shape=(num_nodes, num_nodes))
    return torch.from_numpy(connected_components(adjacency, directed=False)[1]).long()
