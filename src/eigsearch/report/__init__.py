"""What a person looks at: pages, galleries, comparisons and figures of explanations."""

from eigsearch.report.comparison import comparison_page, save_comparison
from eigsearch.report.figure import plot, plot_curve, save_figure
from eigsearch.report.gallery import gallery_page, save_gallery
from eigsearch.report.names import Names
from eigsearch.report.single import explanation_frame, explanation_page, save_explanation

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
]
