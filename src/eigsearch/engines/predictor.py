"""Steps 1 and 2 of the pipeline: instances in, predictions out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch.engines.argument_choice import choose_arguments
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.evaluator import AutoEvaluator
from eigsearch.engines.field_finder import FieldFinder
from eigsearch.engines.incremental import IncrementalEngine
from eigsearch.engines.model_memory import recall
from eigsearch.errors import UnsupportedError
from eigsearch.inference.configured_model import ConfiguredModel
from eigsearch.inference.forward_parameters import uncompiled
from eigsearch.inference.model_call import ModelCall
from eigsearch.inference.output_type import (
    OutputType,
    check_same_reading,
    note_on_one_output,
    read_outputs,
    resolve_target,
)
from eigsearch.inference.prediction import PredictedInstance, with_prediction
from eigsearch.inference.target import phi_rows
from eigsearch.inference.typed_arguments import argument_names
from eigsearch.inputs.computation_graph import WHOLE_GRAPH
from eigsearch.inputs.feature_groups import check_some_features, with_features
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.tasks import TaskLevel, task_level

if TYPE_CHECKING:
    from eigsearch.options import Options


class Predictor:
    """Predicts with one model under one set of options.

    The first predictions of a run decide how the model is called and how its outputs are read.
    Facts about the model that earlier runs have cached are confirmed by each prediction.

    Attributes:
        model: The model, as it was before `torch.compile`.
        options: The options.
        model_call: How the model is called.
        evaluator: Turns candidates into φ; set by the first prediction.
    """

    evaluator: AutoEvaluator

    def __init__(self, model: Any, options: Options) -> None:
        if isinstance(model, ConfiguredModel):  # a ranker reads outputs as its pipeline does
            options = replace(options, task=model.task, return_type=model.return_type)
        check_some_features(options.features, options.groups, options.baseline)
        self.model = uncompiled(model)
        self.options = options
        self.model_call = ModelCall(self.model, options.forward, options.arguments)
        self._output_type: OutputType | None = None
        self._fields: FieldFinder | None = None
        self._argument_note = self._own_call_note = ""
        self._noted_arguments: set[str] = set()  # what the note on arguments is about
        self._num_outputs = 0
        self._called_as: dict[tuple[str, ...], str] = {}  # by the signature of graphs

    def predict(
        self, instances: Sequence[Instance], with_removals: bool = False
    ) -> list[PredictedInstance]:
        """Return the prepared instances with the prediction and the target of each.

        Args:
            instances: What to predict.
            with_removals: Whether to evaluate φ without each group as well, if the engine computes
                both at about the cost of one.
        """
        prepared, outputs = self._evaluate(instances, with_removals)
        self._own_call_note = self.evaluator.own_call_note(prepared[0], outputs[0][0])
        read = self._read(instances, prepared, torch.stack([rows[0] for rows in outputs]))
        options = self.options
        aims = [
            resolve_target(read, rows[0], instance.target, options.rather_than, options.above)
            for rows, instance in zip(outputs, instances, strict=True)
        ]
        phis = phi_rows([target for target, _ in aims], outputs)
        return [
            with_prediction(
                instance,
                target=target,
                prediction=prediction,
                phi_full=phi[0],
                phi_without=phi[1:] if len(phi) == instance.groups.count + 1 else None,
            )
            for instance, (target, prediction), phi in zip(prepared, aims, phis, strict=True)
        ]

    def prepare_changed(self, instance: Instance, groups: Tensor) -> PreparedInstance:
        """Return a prepared instance for a changed graph, with the given groups.

        The receptive field is the one that was found for the unchanged graph.
        """
        seen = self._fields.field if self._fields else None
        (prepared,) = self._level([instance]).prepare([instance], groups, seen or WHOLE_GRAPH)
        if self._fields:
            self._fields.settle_levels([prepared])
        return prepared

    @property
    def output_type(self) -> OutputType:
        """How outputs are read; known after the first prediction."""
        assert self._output_type is not None
        return self._output_type

    def describe(self, instance: PreparedInstance) -> dict[str, Any]:
        """Return how the model was called for an instance, and how its output was read."""
        kind = instance.signature
        if kind not in self._called_as:
            self._called_as[kind] = self.model_call.called_as(instance.readable)
        return {
            "called_as": self._called_as[kind],
            "read_as": str(self._output_type),
            "num_outputs": self._num_outputs,
        }

    def notes(self, instance: PreparedInstance) -> list[str]:
        """Return what a user should know about the model and this graph."""
        evaluator = self.evaluator
        notes = [self._own_call_note]
        if self._argument_note and self._noted_arguments <= set(argument_names(instance.source)):
            notes.insert(0, self._argument_note)
        notes += [evaluator.note, evaluator.cost_note(instance)]
        notes += [evaluator.values_note(instance), instance.groups.note]
        return [*notes, note_on_one_output(self._output_type)]

    def _evaluate(
        self, instances: Sequence[Instance], with_removals: bool
    ) -> tuple[list[PreparedInstance], list[Tensor]]:
        """Return the prepared instances, and the model's output rows for each."""
        level = self._level(instances)
        fields = self._fields or self._build_engines(level, instances)
        while True:
            prepared, own = fields.prepare(level, instances)
            for instance in prepared:
                self.model_call.check(instance.readable)
            prepared = self._with_features(prepared)
            outputs = self.evaluator.whole_graphs(prepared, with_removals, own)
            if fields.gave(outputs, self.evaluator.batched.shares_calls):
                return prepared, outputs  # else repeat on the whole graph

    def _with_features(self, prepared: list[PreparedInstance]) -> list[PreparedInstance]:
        """Return the instances with the groups of features that the options ask for."""
        options = self.options
        if options.features is None:
            return prepared
        if any(instance.schema is not None for instance in prepared):
            raise UnsupportedError(
                "Expected a graph without types with `features` (got a HeteroData). Leave "
                "`features` out, or explain `data.to_homogeneous()`."
            )
        found = [with_features(i, options.features, options.baseline) for i in prepared]
        for instance in found[:1]:
            for part in instance.groups.features:
                self.model_call.check_reads(part.attribute, instance.data)
        return found

    def _build_engines(self, level: TaskLevel, instances: Sequence[Instance]) -> FieldFinder:
        """Choose the arguments that the model is called with, and build the engines."""
        options, limits = self.options, (self.options.max_batch_nodes, self.options.max_memory)
        optional = [self._optional_arguments(instance) for instance in instances]
        self._noted_arguments = max(optional, key=len)  # of the graph that tells most
        self.model_call, self._argument_note = choose_arguments(
            self.model_call,
            level,
            instances[optional.index(self._noted_arguments)],
            options.groups,
        )
        memory = recall(self.model_call, *limits, options.levels)
        batched = BatchedEngine(self.model_call, *limits)
        incremental = IncrementalEngine(self.model_call, *limits, reasons=memory.reasons)
        keeps_nodes = options.nodes == "keep"
        self.evaluator = AutoEvaluator(batched, incremental, memory, options.engine, keeps_nodes)
        self._fields = FieldFinder(self.model, options.groups, batched, memory, options.levels)
        return self._fields

    def _optional_arguments(self, instance: Instance) -> set[str]:
        """Return the optional arguments of the model that a graph has, none for what is none."""
        data = instance.data
        known = isinstance(data, Data | HeteroData)
        return set(self.model_call.optional_arguments(data)) if known else set()

    def _level(self, instances: Sequence[Instance]) -> TaskLevel:
        """Return the kind of prediction of the instances, under the options."""
        return task_level(instances, self.options.reverse, self.options.target_link)

    def _read(
        self,
        instances: Sequence[Instance],
        prepared: Sequence[PreparedInstance],
        outputs: Tensor,
    ) -> OutputType:
        """Return how outputs are read: decided by the first ones, checked for all others."""
        self._num_outputs = outputs.size(1)
        if self._output_type is None:
            level = self._level(instances)
            self._output_type = read_outputs(
                outputs,
                task=self.options.task,
                return_type=self.options.return_type,
                labels=[level.labels(instance) for instance in prepared],
                one_output=level.one_output,
                last_op=lambda: self.evaluator.last_op(prepared[0]),
            )
        check_same_reading(self._output_type, outputs)
        return self._output_type
