"""Every explainer of the arena under one protocol: a file each, or a folder where it takes several.

`base` is the protocol, `registry` the names that users type, `parts` what explainers share. All
else is one of the explainers:

- *gradients*: `sensitivity`, `grad`, `gradcam`, `integrated_gradients`, `captum_methods`;
- *a look inside*: `attention`, `degree`;
- *removing and perturbing*: `linear_gradients` (that of EiG-Search), `occlusion`, `pgm_explainer`,
  `subgraphx`, `gstarx`;
- *masks for one prediction*: `gnn_explainer`;
- *trained on a data set*: `pg_explainer`, `graphmask`, `rcexplainer`, `rg_explainer`;
- *the floor*: `random_scores`.
"""

from eigsearch.explainers.attention import Attention
from eigsearch.explainers.base import Card, Method
from eigsearch.explainers.captum_methods import DeepLIFT, GuidedBackprop, InputXGradient
from eigsearch.explainers.degree import DEGREE
from eigsearch.explainers.gnn_explainer import GNNExplainer
from eigsearch.explainers.grad import Grad
from eigsearch.explainers.gradcam import GradCAM
from eigsearch.explainers.graphmask import GraphMask
from eigsearch.explainers.gstarx import GStarX
from eigsearch.explainers.integrated_gradients import IntegratedGradients
from eigsearch.explainers.linear_gradients import EiGSearchRanking
from eigsearch.explainers.occlusion import Occlusion
from eigsearch.explainers.pg_explainer import PGExplainer
from eigsearch.explainers.pgm_explainer import PGMExplainer
from eigsearch.explainers.random_scores import Random
from eigsearch.explainers.rcexplainer import RCExplainer
from eigsearch.explainers.registry import get, names, table
from eigsearch.explainers.rg_explainer import RGExplainer
from eigsearch.explainers.sensitivity import Sensitivity
from eigsearch.explainers.subgraphx import SubgraphX

__all__ = [
    "DEGREE",
    "Attention",
    "Card",
    "DeepLIFT",
    "EiGSearchRanking",
    "GNNExplainer",
    "GStarX",
    "Grad",
    "GradCAM",
    "GraphMask",
    "GuidedBackprop",
    "InputXGradient",
    "IntegratedGradients",
    "Method",
    "Occlusion",
    "PGExplainer",
    "PGMExplainer",
    "RCExplainer",
    "RGExplainer",
    "Random",
    "Sensitivity",
    "SubgraphX",
    "get",
    "names",
    "table",
]
