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

from eigsearch.explainers.base import Card, Method
from eigsearch.explainers.baselines.random import Random
from eigsearch.explainers.decomposition.attention import Attention
from eigsearch.explainers.decomposition.degree import DEGREE
from eigsearch.explainers.games.gstarx import GStarX
from eigsearch.explainers.games.subgraphx import SubgraphX
from eigsearch.explainers.generators.rg_explainer import RGExplainer
from eigsearch.explainers.gradient.captum_methods import DeepLIFT, GuidedBackprop, InputXGradient
from eigsearch.explainers.gradient.grad import Grad
from eigsearch.explainers.gradient.gradcam import GradCAM
from eigsearch.explainers.gradient.integrated_gradients import IntegratedGradients
from eigsearch.explainers.gradient.saliency import Sensitivity
from eigsearch.explainers.learned_masks.gnn_explainer import GNNExplainer
from eigsearch.explainers.learned_masks.graphmask import GraphMask
from eigsearch.explainers.learned_masks.pg_explainer import PGExplainer
from eigsearch.explainers.learned_masks.rcexplainer import RCExplainer
from eigsearch.explainers.perturbation.eig_search import EiGSearchRanking
from eigsearch.explainers.perturbation.occlusion import Occlusion
from eigsearch.explainers.perturbation.pgm_explainer import PGMExplainer
from eigsearch.explainers.registry import get, names, table

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
