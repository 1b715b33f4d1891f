"""GFlowExplainer, its flow network and the flow-matching loss."""

from eigsearch.explainers.generators.gflow_explainer.explainer import GFlowExplainer

__all__ = ["GFlowExplainer"]
