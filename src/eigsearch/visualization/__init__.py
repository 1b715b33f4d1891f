"""Pages, galleries, comparisons and figures of explanations."""

from eigsearch.visualization.comparison import comparison_page, save_comparison
from eigsearch.visualization.explanation import (
    explanation_frame,
    explanation_page,
    save_explanation,
)
from eigsearch.visualization.figure import plot, plot_curve, save_figure
from eigsearch.visualization.figure_grid import save_grid
from eigsearch.visualization.gallery import gallery_page, save_gallery
from eigsearch.visualization.labels import Names

__all__ = [
    "Names",
    "comparison_page",
    "explanation_frame",
    "explanation_page",
    "gallery_page",
    "plot",
    "plot_curve",
    "save_comparison",
    "save_explanation",
    "save_figure",
    "save_gallery",
    "save_grid",
]
