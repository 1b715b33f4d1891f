"""Read the published synthetic sets from their `.npz` files."""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.datasets.motifs import number_motifs
from eigsearch.errors import InputError


def read_node_set(path: Path) -> tuple[Data]:
    """Return the one graph of a published node set, ground truth marked in both directions."""
    arrays = _read(path, ("x", "edge_index", "y", "edge_label_sym"))
    graph = Data(
        x=arrays["x"].float(),
        edge_index=arrays["edge_index"].long(),
        y=arrays["y"].long(),
        edge_label=arrays["edge_label_sym"].bool(),
    )
    return (number_motifs(graph),)


def read_ba_2motifs(path: Path) -> tuple[Data, ...]:
    """Return the 1,000 published BA-2Motifs graphs.

    In 40 of them a self-loop at node 20 stands where the edge between motif and base should be.
    """
    arrays = _read(path, ("edge_index", "edge_ptr", "x_const", "x_shape", "y", "edge_label"))
    x = torch.full(arrays["x_shape"].tolist(), float(arrays["x_const"]))
    ptr = arrays["edge_ptr"].tolist()
    return tuple(
        Data(
            x=x.clone(),
            edge_index=arrays["edge_index"][:, start:stop].long(),
            y=label.long().view(1),
            edge_label=arrays["edge_label"][start:stop].bool(),
        )
        for start, stop, label in zip(ptr[:-1], ptr[1:], arrays["y"], strict=True)
    )


def _read(path: Path, keys: tuple[str, ...]) -> dict[str, Tensor]:
    """Return the named arrays of the file as tensors; pickled arrays are refused."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: torch.from_numpy(archive[key]) for key in keys}
    except (KeyError, ValueError, OSError, BadZipFile) as error:
        raise InputError(
            f"Expected {path} to be a published data set with the arrays {', '.join(keys)} "
            f"(got: {error}). Remove the file to use the generated set instead."
        ) from error
