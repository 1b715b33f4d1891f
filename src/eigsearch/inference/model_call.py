"""Call a model with its arguments by name, and restore its state afterwards."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import HANConv, SortAggregation

from eigsearch.errors import InputError, ModelError
from eigsearch.inference.eval_mode import undo_writes
from eigsearch.inference.failed_calls import explained_failure
from eigsearch.inference.forward_parameters import (
    PROVIDED,
    checked_parameters,
    chosen_parameters,
    own_parameters,
    parameters_of,
    takes_object,
    unwrap_partial,
)
from eigsearch.inference.input_checks import check_dense, check_model
from eigsearch.inference.link_input import (
    LINK,
    LinkInput,
    find_link_input,
    link_attributes,
    links_of,
)
from eigsearch.inference.model_caches import Cache, caches_of
from eigsearch.inference.model_modules import ModelModules, find_modules
from eigsearch.inference.model_state import attributes_restored, lock_of
from eigsearch.inference.random_numbers import (
    check_repeats,
    draws_itself,
    generator_state,
    generator_states,
)
from eigsearch.inference.typed_arguments import argument_names, argument_value

Forward = Callable[[Any, Batch], Tensor]


class ModelCall:
    """Calls a PyG-style model on a batch, by the argument names in its signature.

    A model whose forward takes one object is called as `model(batch)`; any other gets the
    attributes that it names (`x`, `edge_index`, `batch`, `edge_attr`, …). `forward` replaces all
    of that by a callable `(model, batch) -> output`.
    """

    def __init__(
        self,
        model: Any,
        forward: Forward | None = None,
        arguments: Sequence[str] | None = None,
    ) -> None:
        check_model(model)
        self.model = model
        self._forward = forward
        self._link: LinkInput | None = None
        self._parameters = checked_parameters(model) if forward is None else {}
        if arguments is not None:
            self._parameters = chosen_parameters(self._parameters, arguments)
        self._chosen = arguments is not None
        self.takes_object = forward is not None or takes_object(self._parameters)
        self.takes_gradients = False  # whether its forward is known to need autograd
        self.draws_numbers = False  # whether it is known to draw random numbers
        self._called = False
        self._accepted: set[tuple[str, ...]] = set()  # attribute names that passed `check`
        self.lock = lock_of(unwrap_partial(model))  # held by whoever calls the model

    @cached_property
    def found(self) -> ModelModules:
        """The modules that calls run, as of when they were last looked for."""
        return find_modules(self.model, self._forward)

    def find_modules(self) -> ModelModules:
        """Return the modules that calls run, and look for them again."""
        for name in ("found", "_modules", "_caches"):
            vars(self).pop(name, None)
        return self.found

    @cached_property
    def _modules(self) -> list[torch.nn.Module]:
        """The modules whose writes are undone.

        A compiled module keeps what it writes out of Python's reach.
        """
        modules = [*self.found.registered, *self.found.held]
        return [m for m in modules if not isinstance(m, torch.jit.ScriptModule)]

    @cached_property
    def _caches(self) -> list[Cache]:
        """Where else calls may write."""
        return caches_of(self.found, self._forward or unwrap_partial(self.model))

    @property
    def identity(self) -> tuple[Any, ...]:
        """Everything that distinguishes this way of calling the model, hashable."""
        return self._forward, self._link, *self._parameters

    @property
    def custom(self) -> bool:
        """Whether the user calls the model in a way of their own."""
        return self._forward is not None

    def of(self, model: Any) -> ModelCall:
        """Return the same call of a copy of the model."""
        call = ModelCall(model, self._forward)
        for name in ("_link", "_parameters", "_chosen", "takes_object"):
            setattr(call, name, getattr(self, name))
        return call

    def with_link(self, data: Any) -> ModelCall:
        """Return the call of the same model on links of a graph.

        Raises:
            InputError: If it is not clear where the model takes them.
        """
        if self.custom or self._link is not None:
            return self
        given = {*PROVIDED, *argument_names(data)} - {LINK}
        decoder = own_parameters(getattr(self.model, "decode", None))
        link = find_link_input(self.model, self._parameters, given, self.takes_object, decoder)
        call = copy.copy(self)
        call._link, call._accepted = link, set()
        if link.decodes:
            encoder = getattr(self.model, "encoder", None)  # GAE.encode passes all arguments to it
            own = own_parameters(self.model.encode)
            call._parameters = own or parameters_of(encoder)
        rest = {name: p for name, p in call._parameters.items() if name != link.parameter}
        call.takes_object = takes_object(rest)
        return call

    def called_as(self, data: Any) -> str:
        """Return how the model is called on a graph, such as `model(x, edge_index, batch)`."""
        if self.custom:
            return "forward(model, batch)"
        link = self._link or LinkInput()
        names = set(argument_names(data))
        given = [n for n in self._parameters if n in PROVIDED - {"x"} or n in names]
        if self.takes_object:
            given = ["data"]
        if link.decodes:
            pair = [f"model.encode({', '.join(given)})", LINK]
            return f"model.decode({', '.join(pair[::-1] if link.links_first else pair)})"
        if link.parameter and (self.takes_object or link.parameter not in given):
            given.append(link.parameter)
        return f"model({', '.join(given)})"

    def optional_arguments(self, data: Any) -> list[str]:
        """Return optional arguments that the graph provides and the user did not choose."""
        if self.takes_object or self._chosen:
            return []
        names = set(argument_names(data)) - PROVIDED
        names -= {f"{name}_dict" for name in PROVIDED} | {LINK}
        return [
            name
            for name, parameter in self._parameters.items()
            if parameter.default is not inspect.Parameter.empty and name in names
        ]

    def leaving_out(self, names: Sequence[str]) -> ModelCall:
        """Return the call of the same model without some of its arguments."""
        call = copy.copy(self)
        call._parameters = {n: p for n, p in self._parameters.items() if n not in names}
        call._accepted = set()
        return call

    def of_links(self, data: Any) -> list[str]:
        """Return the arguments with one row per link in the graph's list of links."""
        if self._link is None or self.takes_object:
            return []
        known = link_attributes(data)
        return [name for name in self._parameters if name.removesuffix("_dict") in known]

    @property
    def takes_batch(self) -> bool:
        """Whether the model can tell the graphs of a batch apart."""
        return self.needs("batch")

    def needs(self, key: str) -> bool:
        """Return whether the model may read this attribute of a graph."""
        known = self._parameters
        return self.takes_object or key in known or f"{key}_dict" in known

    def check_reads(self, key: str, data: Data) -> None:
        """Raise InputError if the model does not read an attribute that is to be explained."""
        if not self.needs(key):
            raise InputError(
                f"Expected the model to read `{key}`, whose features are to be explained (got a "
                f"model that is called as {self.called_as(data)}). Leave these features out, or "
                "pass `forward`."
            )

    @cached_property
    def sorts_nodes(self) -> bool:
        """Whether the model pools nodes by sorting them."""
        return any(isinstance(module, SortAggregation) for module in self._modules)

    @cached_property
    def averages_nodes(self) -> bool:
        """Whether a layer averages over all nodes of a type, those of other graphs included."""
        return any(isinstance(module, HANConv) for module in self._modules)

    def check(self, data: Any) -> None:
        """Raise an error if a graph lacks an argument of the model, or has a sparse one."""
        check_dense(data, self.needs)
        names = argument_names(data)
        if names in self._accepted:
            return
        if not self.takes_object:
            self._check_arguments(data, names)
        self._accepted.add(names)

    def _check_arguments(self, data: Any, names: tuple[str, ...]) -> None:
        link = self._link or LinkInput()
        for name, parameter in self._parameters.items():
            required = parameter.default is inspect.Parameter.empty
            if required and name not in {*PROVIDED, *names, link.parameter}:
                raise InputError(
                    f"Expected the graph to have `{name}`, which the model's forward requires "
                    f"(got {', '.join(sorted(names))}). Set `data.{name}`, or pass "
                    "`forward=lambda model, batch: …` to call the model your way."
                )
        for name in self.of_links(data):
            raise InputError(
                "Expected attributes that the model reads to belong to nodes, edges or the graph "
                f"(got `{name}`, with a row for each link that the graph lists). Set `data.{name}` "
                "to the row of the explained link, of shape [1, …], and explain one link in each "
                "call."
            )
        if "x" in self._parameters and "x" not in names:
            raise InputError(
                "Expected the graph to have node features `x` (got none). Set `data.x`."
            )

    def __call__(self, batch: Batch) -> Tensor:
        """Return the model's output for a batch.

        Outside inference mode the model is given copies of features: it may overwrite its inputs,
        which are then leaves to differentiate by, or values that the caller uses again.
        """
        if not torch.is_inference_mode_enabled():
            batch = _with_copied_features(batch)
        try:
            output = self._output(batch)
        except (RuntimeError, KeyError, AttributeError) as error:
            if (told := explained_failure(batch, error)) is None:
                raise
            raise told from error
        if isinstance(output, Tensor):
            return output
        if isinstance(output, Mapping) and isinstance(batch, HeteroData):
            output = _explained(output, batch)
        if not isinstance(output, Tensor):
            raise ModelError(
                f"Expected the model to return a tensor (got {type(output).__name__}). "
                "Pass `forward=lambda model, batch: …` to pick the scores."
            )
        return output

    def without_traces(self, batch: Batch) -> Tensor:
        """Return the model's output for a batch, and undo what the call wrote to its modules.

        A model that draws random numbers is called twice: two outputs on one graph may agree by
        luck, and those on other graphs differ.

        Raises:
            ModelError: If it gives two outputs.
        """
        same = batch.clone() if self.draws_numbers else None
        look = generator_state if self._called else generator_states
        with self.restored():
            state = look()
            output = self(batch)
            changed = state != look()
        self._called = True
        if same is not None:
            with self.restored():
                check_repeats(output, self(same))
        elif changed:
            self.draws_numbers = self._draws_itself(batch)
        return output

    def _draws_itself(self, batch: Batch) -> bool:
        """Return whether the model, and not another thread, draws random numbers."""
        try:
            with self.restored():
                return draws_itself(lambda: self(batch))
        except Exception:  # as of a model that writes to its batch, and cannot take it again
            return True

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Undo in the end what calls of the model wrote to its modules.

        A forward that stores what it computes (a normalised graph, say) would otherwise give it
        to the next candidate. One thread at a time: others would see what is being written.
        """
        with self.lock, attributes_restored(self._modules, self._caches):
            try:
                yield
            finally:
                undo_writes(self._modules)

    def _output(self, batch: Batch) -> Any:
        """Return the raw output; with autograd enabled if the forward needs it."""
        if not self.takes_gradients:
            try:
                return self._call(batch)
            except RuntimeError as error:
                if not _asks_for_gradients(error) or type(batch["edge_index"]) is not Tensor:
                    raise
        with torch.inference_mode(False), torch.enable_grad():
            output = self._call(batch.clone())  # which autograd may record, unlike the batch
        self.takes_gradients = True
        return output.detach() if isinstance(output, Tensor) else output

    def _call(self, batch: Batch) -> Any:
        if self._forward is not None:
            return self._forward(self.model, batch)
        link = self._link or LinkInput()
        links = {link.parameter: links_of(batch, link.parameter)} if link.parameter else {}
        call = self.model.encode if link.decodes else self.model
        if self.takes_object:
            output = call(batch, **links)
        else:
            output = call(**{**self._arguments(batch), **links})
        if not link.decodes:
            return output
        pair = (batch[LINK], output) if link.links_first else (output, batch[LINK])
        return self.model.decode(*pair)

    def _arguments(self, batch: Batch) -> dict[str, Any]:
        typed = isinstance(batch, HeteroData)
        value_of = partial(argument_value, batch) if typed else batch.get
        arguments = {}
        for name in self._parameters:
            if name == "batch_size":
                arguments[name] = batch.num_graphs
            elif (value := value_of(name)) is not None:
                arguments[name] = value
        return arguments


def _with_copied_features(batch: Batch) -> Batch:
    """Return the batch with copies of its floating-point tensors, which pass gradients on."""
    copied = copy.copy(batch)
    for own, store in zip(copied.stores, batch.stores, strict=True):
        own.update({k: v.clone() for k, v in store.items() if _is_floating(v)})
    return copied


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _explained(output: Mapping[Any, Any], batch: Batch) -> Any:
    """Return the outputs of the explained type, or of the one edge type where links have theirs."""
    explained = batch._global_store.get("explained_type")
    if explained not in output and LINK in batch._global_store and len(output) == 1:
        (explained,) = output
    if explained not in output:
        raise ModelError(
            f"Expected the model to return outputs of {explained or 'graphs'} (got a dict of "
            f"{', '.join(map(str, output)) or 'nothing'}). Pass `forward=lambda model, batch: …` "
            "to pick the scores."
        )
    return output[explained]


def _asks_for_gradients(error: RuntimeError) -> bool:
    """Return whether a model failed because it differentiates in its forward."""
    text = str(error)
    return "does not require grad" in text or "nference tensors cannot be" in text
