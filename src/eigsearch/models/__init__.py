"""Plain graph networks, their training, and the zoo of trained ones."""

from eigsearch.models import zoo
from eigsearch.models.checkpoints import load_model, save_model
from eigsearch.models.common_neighbours import CommonNeighbours
from eigsearch.models.evaluation import Accuracy, evaluate
from eigsearch.models.gnn import CONVS, GNN
from eigsearch.models.hetero_gnn import HeteroGNN
from eigsearch.models.model_card import ModelCard, make_card
from eigsearch.models.published_networks import PublishedGCN, PublishedGIN, load_published
from eigsearch.models.rgcn import RGCN, load_rgcn
from eigsearch.models.splits import Split, split
from eigsearch.models.training import TrainResult, train
from eigsearch.models.training_recipes import RECIPES, Recipe, recipe_for

Card = ModelCard

__all__ = [
    "CONVS",
    "GNN",
    "RECIPES",
    "RGCN",
    "Accuracy",
    "Card",
    "CommonNeighbours",
    "HeteroGNN",
    "PublishedGCN",
    "PublishedGIN",
    "Recipe",
    "Split",
    "TrainResult",
    "evaluate",
    "load_model",
    "load_published",
    "load_rgcn",
    "make_card",
    "recipe_for",
    "save_model",
    "split",
    "train",
    "zoo",
]
