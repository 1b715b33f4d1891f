"""What a failed call of a model says about the graph that it was given."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Batch, HeteroData

from eigsearch.errors import ModelError

_MISFIT = "shapes cannot be multiplied"  # what torch says if no layer takes the features


class FeatureMisfitError(ModelError):
    """A model was given features of another shape than it takes."""


def explained_failure(batch: Batch, error: Exception) -> ModelError | None:
    """Return an error that says how a graph does not fit its model; None if nothing tells."""
    if isinstance(error, RuntimeError):
        return _misfit_error(batch, error) if _MISFIT in str(error) else None
    if not isinstance(batch, HeteroData):
        return None
    if missing := _missing_features(batch, error):
        return _features_error(missing, error)
    return _type_error(batch, error) if isinstance(error, KeyError) else None


def _misfit_error(batch: Batch, error: RuntimeError) -> FeatureMisfitError:
    found = {name: batch.get(name) for name in ("x", "edge_attr")}
    shapes = [
        f"`{name}` with {value.size(-1)} columns"
        for name, value in found.items()
        if isinstance(value, Tensor) and value.dim()
    ]
    shape = " and ".join(shapes) or "no `x`"
    return FeatureMisfitError(
        f"Expected the graph to have as many features as the model takes (got {shape}; torch "
        f"says: {str(error).splitlines()[0]}). Pass the graph with the features that the model "
        "was trained on."
    )


def _missing_features(batch: Batch, error: Exception) -> list[str]:
    """Return the node types without `x` that may have made a model fail which reads that of others.

    A layer of PyG gets None for their states, or looks them up in a dict.
    """
    bare = [store._key for store in batch.node_stores if "x" not in store]
    if len(bare) == len(batch.node_types):
        return []
    if isinstance(error, KeyError):
        return [kind for kind in bare if error.args == (kind,)]
    return bare if "'NoneType' object" in str(error) else []


def _features_error(missing: list[str], error: Exception) -> FeatureMisfitError:
    return FeatureMisfitError(
        f"Expected the node types that the model reads to have features (got no `x` of "
        f"{' and '.join(missing)}; Python says: {type(error).__name__}: {error}). Set "
        f"data[{missing[0]!r}].x."
    )


def _type_error(batch: Batch, error: KeyError) -> ModelError:
    return ModelError(
        "Expected the graph to have the types that the model was made for (got a model that looks "
        f"up {error}, and a graph with {', '.join(batch.node_types)} and "
        f"{', '.join(map(str, batch.edge_types))}). Pass the graph that it was trained on."
    )
