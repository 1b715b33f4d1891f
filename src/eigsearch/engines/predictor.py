"""Steps 1 and 2 of the pipeline: instances in, what the model predicts for them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

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
from eigsearch.inputs.computation_graph import WHOLE_GRAPH
from eigsearch.inputs.feature_groups import check_some_features, with_features
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.tasks import TaskLevel, task_level

if TYPE_CHECKING:
    from eigsearch.options import Options


class Predictor:
    """Predicts with one model under one set of options.

    How the model is called and its outputs are read is decided by the first predictions, once for
    all of a run. What is remembered of the model from earlier runs, each prediction confirms.

    Attributes:
        model: The model, as it was before `torch.compile`.
        options: The options.
        model_call: How the model is called.
        evaluator: What turns candidates into φ; there from the first prediction on.
    """

    evaluator: AutoEvaluator

    def __init__(self, model: Any, options: Options) -> None:
        if isinstance(model, ConfiguredModel):  # a ranker predicts as the pipeline that it serves
            options = replace(options, task=model.task, return_type=model.return_type)
        check_some_features(options.features, options.groups, options.baseline)
        self.model = uncompiled(model)
        self.options = options
        self.model_call = ModelCall(self.model, options.forward, options.arguments)
        self._output_type: OutputType | None = None
        self._fields: FieldFinder | None = None
        self._argument_note = self._own_call_note = ""
        self._num_outputs = 0
        self._called_as: dict[tuple[str, ...], str] = {}  # by the attributes of graphs

    def predict(
        self, instances: Sequence[Instance], with_removals: bool = False
    ) -> list[PredictedInstance]:
        """Return the instances prepared, with the prediction and the target of each.

        Args:
            instances: What to predict.
            with_removals: Evaluate φ without each group together with the graph, where an engine
                gives both for hardly more than one.
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
        """Return an instance whose graph was changed, with groups of its own.

        The model sees as far as it was seen to in the graph as it was.
        """
        seen = self._fields.field if self._fields else None
        (prepared,) = self._level([instance]).prepare([instance], groups, seen or WHOLE_GRAPH)
        if self._fields:
            self._fields.settle_levels([prepared])
        return prepared

    @property
    def output_type(self) -> OutputType:
        """How outputs are read, known after a prediction."""
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
        """Return what a user should know of the model and of this graph."""
        evaluator = self.evaluator
        notes = [self._argument_note, self._own_call_note]
        notes += [evaluator.note, evaluator.cost_note(instance)]
        notes += [evaluator.values_note(instance), instance.groups.note]
        return [*notes, note_on_one_output(self._output_type)]

    def _evaluate(
        self, instances: Sequence[Instance], with_removals: bool
    ) -> tuple[list[PreparedInstance], list[Tensor]]:
        """Return the instances prepared, and the model's output rows for each."""
        level = self._level(instances)
        fields = self._fields or self._meet_model(level, instances)
        while True:
            prepared, own = fields.prepare(level, instances)
            for instance in prepared:
                self.model_call.check(instance.readable)
            prepared = self._with_features(prepared)
            outputs = self.evaluator.whole_graphs(prepared, with_removals, own)
            if fields.gave(outputs, self.evaluator.batched.shares_calls):
                return prepared, outputs  # else the model sees more, and is given the whole graph

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

    def _meet_model(self, level: TaskLevel, instances: Sequence[Instance]) -> FieldFinder:
        """Decide how the model is called, and build the engines that call it so."""
        options, limits = self.options, (self.options.max_batch_nodes, self.options.max_memory)
        self.model_call, self._argument_note = choose_arguments(
            self.model_call, level, instances[0], options.groups
        )
        memory = recall(self.model_call, *limits, options.levels)
        batched = BatchedEngine(self.model_call, *limits)
        incremental = IncrementalEngine(self.model_call, *limits, reasons=memory.reasons)
        keeps_nodes = options.nodes == "keep"
        self.evaluator = AutoEvaluator(batched, incremental, memory, options.engine, keeps_nodes)
        self._fields = FieldFinder(self.model, options.groups, batched, memory, options.levels)
        return self._fields

    def _level(self, instances: Sequence[Instance]) -> TaskLevel:
        """Return the kind of prediction that instances share, under the options."""
        return task_level(instances, self.options.reverse, self.options.target_link)

    def _read(
        self,
        instances: Sequence[Instance],
        prepared: Sequence[PreparedInstance],
        outputs: Tensor,
    ) -> OutputType:
        """Return how outputs are read: decided by the first ones, held against all others."""
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
