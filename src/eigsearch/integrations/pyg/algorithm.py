"""EiG-Search as an algorithm of `torch_geometric.explain.Explainer`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.explain import ExplainerAlgorithm
from torch_geometric.explain.config import ExplanationType, MaskType, ModelMode

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.pyg_explanation import EdgeInducedExplanation, TypedEdgeExplanation
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.inputs.instance import Instance
from eigsearch.integrations.pyg.inputs import Inputs
from eigsearch.integrations.pyg.merging import merge, merge_typed
from eigsearch.integrations.pyg.typed_inputs import TypedInputs
from eigsearch.options import Options, make_options, takes_options
from eigsearch.pipeline import Explains, Pipeline, explain_stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from eigsearch.options import OptionsDict

# What PyG calls the units of a mask of node features.
_FEATURES = {
    MaskType.object: "nodes",
    MaskType.common_attributes: "columns",
    MaskType.attributes: "entries",
}
_NAMES = {"graph": "graphs", "node": "nodes", "edge": "links"}
_ONE_COLUMN = (
    "Models with several outputs are explained one column at a time: "
    "EiGSearch(forward=lambda model, batch: model(…)[:, [column]])."
)


class EiGSearch(ExplainerAlgorithm):
    """EiG-Search for PyG's `Explainer`; the options are those of `eigsearch.explain`.

    Task and return type come from the `Explainer`'s model configuration. With a `batch` vector,
    each graph gets a subgraph of its own. With several nodes in `index`, each is explained by
    itself: `edge_mask` is the union of their subgraphs, `edge_score` the highest score that an
    edge has for any of them, and `details` holds the single explanations. To compare
    `edge_score` with a ground truth of node tasks, as the paper does, pass
    `ranker="output_norm"`: its scores have no sign.

    `node_mask_type` adds groups of features to the search: `"common_attributes"` the columns of
    `x`, `"object"` the features of each node, `"attributes"` each entry. The result then has a
    `node_mask` and a `feature_score`; without an `edge_mask_type` all edges stay.

    With `task_level="edge"` the links are what the model's keyword `edge_label_index` holds, `[2]`
    or `[2, L]`, and `index` picks among them. Dicts of a typed graph give a `HeteroExplanation`
    with a mask for every node and edge type.

    PyG's `Explainer` sets the training flag of all sub-modules to that of the model. Where single
    ones differ (a frozen normalisation, say), use `eigsearch.explain`, which restores each.
    """

    @takes_options("task", "return_type")
    def __init__(self, **options: Unpack[OptionsDict]) -> None:
        super().__init__()
        self.options = make_options({**options})

    def supports(self) -> bool:
        """Return whether the configuration is supported; if not, log the reason."""
        config = self.explainer_config
        if config.node_mask_type is not None and self.options.features is not None:
            return refuse(
                self, "'node_mask_type' sets the option 'features'; leave one of them out"
            )
        return True

    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor | dict[str, Tensor],
        edge_index: Tensor | dict[tuple[str, str, str], Tensor],
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> EdgeInducedExplanation | TypedEdgeExplanation:
        """Return the explanation of the outputs that `index` names, or of all."""
        inputs = self._inputs(model, x, edge_index, kwargs)
        outputs = self._positions(inputs, index, target)
        instances = self._questions(inputs, outputs, target)
        results = list(self._answers(model, inputs, instances))
        if isinstance(inputs, TypedInputs):
            return merge_typed(inputs, results)
        numbers = [number for number, _ in instances]
        return merge(inputs, numbers, results, self.explainer_config.edge_mask_type is not None)

    def _inputs(
        self, model: torch.nn.Module, x: Any, edge_index: Any, others: dict[str, Any]
    ) -> Inputs | TypedInputs:
        """Return the inputs of the model, for a graph with or without types.

        Raises:
            InputError: If there is no link to explain for a model that predicts links.
            UnsupportedError: If features of a typed graph are to be explained.
        """
        at_links = self._level == "edge"
        inputs: Inputs | TypedInputs
        if isinstance(x, dict) or isinstance(edge_index, dict):
            if self.explainer_config.node_mask_type is not None:
                raise UnsupportedError(
                    "Expected no `node_mask_type` for a typed graph (got "
                    f"{self.explainer_config.node_mask_type.value!r}), whose edges alone are "
                    "searched. Leave it out; `node_mask` then marks the nodes of the subgraph."
                )
            inputs = TypedInputs(x, edge_index, others, model, at_links)
        else:
            inputs = Inputs(x, edge_index, others, at_links)
        if at_links and not inputs.link_name:
            raise InputError(
                "Expected the links to explain as a keyword of the model, such as "
                "`edge_label_index` (got none). Pass explainer(x, edge_index, edge_label_index=…)."
            )
        return inputs

    @property
    def _level(self) -> str:
        return str(self.model_config.task_level.value)

    def _mask_options(self) -> dict[str, Any]:
        """Return the options that correspond to the types of masks."""
        config = self.explainer_config
        masks: dict[str, Any] = {}
        if config.node_mask_type is not None:
            masks["features"] = _FEATURES[config.node_mask_type]
        if config.edge_mask_type is None:
            masks["groups"] = "none"
        return masks

    def _positions(
        self, inputs: Inputs | TypedInputs, index: int | Tensor | None, target: Tensor
    ) -> Tensor:
        """Return which rows of the model's output are to be explained."""
        rows = torch.arange(inputs.num_outputs(self._level, target))
        if index is None:
            return rows
        try:
            return rows[index.cpu() if isinstance(index, Tensor) else index].reshape(-1)
        except IndexError as error:
            raise InputError(
                f"Expected `index` to name outputs from 0 to {rows.numel() - 1} (got {index}). "
                f"Pass {_NAMES[self._level]} that the input has."
            ) from error

    def _questions(
        self, inputs: Inputs | TypedInputs, outputs: Tensor, target: Tensor
    ) -> list[tuple[int, Instance]]:
        """Return, for each output, its graph's number and what is asked about it."""
        classes = self._classes(target, inputs, outputs)
        subjects = inputs.subjects(self._level, outputs)
        return [
            (number, Instance(inputs.graphs[number], label, **subject))
            for (number, subject), label in zip(subjects, classes, strict=True)
        ]

    def _classes(
        self, target: Tensor, inputs: Inputs | TypedInputs, outputs: Tensor
    ) -> Sequence[int | None]:
        """Return the class to explain for each output, None for what the model predicts."""
        rows = inputs.num_outputs(self._level, target)
        predicted = self.explainer_config.explanation_type is ExplanationType.model
        if self.options.forward is not None and predicted and target.numel() > rows:
            return [None] * outputs.numel()  # PyG's target is about columns that `forward` drops
        if self.model_config.mode is not ModelMode.regression:
            return _one_for_each(target, rows)[outputs].tolist()
        if self.options.forward is None and target.numel() > rows:
            raise InputError(
                f"Expected a regression to have one output for each of {rows} predictions (got "
                f"{target.numel()}). {_ONE_COLUMN}"
            )
        return [None] * outputs.numel()

    def _answers(
        self,
        model: torch.nn.Module,
        inputs: Inputs | TypedInputs,
        instances: list[tuple[int, Instance]],
    ) -> Iterator[SubgraphExplanation]:
        options = self._options_for(model, inputs)
        if inputs.num_graphs == 1 or not isinstance(options.groups, Tensor):
            pipeline = self._pipeline(model, options)
            yield from explain_stream(pipeline, (asked for _, asked in instances))
            return
        make_groups(options.groups, inputs.whole)  # refuses a partition that does not fit
        for number, instance in instances:
            own = replace(options, groups=options.groups[inputs.edge_ids[number]])
            yield from self._pipeline(model, own).explain([instance])

    def _pipeline(self, model: torch.nn.Module, options: Options) -> Explains:
        """Return a pipeline for the model."""
        return Pipeline(model, options)

    def _options_for(self, model: torch.nn.Module, inputs: Inputs | TypedInputs) -> Options:
        forward, takes_batch = inputs.caller_for(model)
        options = replace(
            self.options,
            task=self.model_config.mode.value,
            return_type=self.model_config.return_type.value,
            **self._mask_options(),
        )
        if options.forward is not None:
            return options
        alone = forward is not None and not takes_batch and self._level == "graph"
        return replace(
            options,
            forward=forward,
            max_batch_nodes=1 if alone else options.max_batch_nodes,  # one candidate per call
        )


def refuse(algorithm: ExplainerAlgorithm, reason: str) -> bool:
    """Log why an algorithm cannot serve its configuration, and return False."""
    name = type(algorithm).__name__
    logging.error(f"'{name}' cannot serve this configuration: {reason}.")
    return False


def _one_for_each(target: Tensor, rows: int) -> Tensor:
    target = target.reshape(-1).cpu()
    if target.numel() != rows:
        raise InputError(
            f"Expected `target` to have one class for each of {rows} outputs "
            f"(got {target.numel()}). Pass a vector of class labels. {_ONE_COLUMN}"
        )
    return target.long()
