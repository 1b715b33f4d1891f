"""Draw an explained graph on matplotlib axes in the style of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization.colors import ATOMS, CLASSES, ROLES
from eigsearch.visualization.graph_drawing import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SOFT = "#1c1e21", "#5c6470"
_BOND, _DISC = "#a9afb8", "#eef0f3"
_MARGIN = 30.0  # units of the drawing around its nodes
_RADIUS = 11.0
_MOST_LABELS = 80  # with more nodes than this, only those of the explanation are labelled


class Artist:
    """Draws one explanation; lines and text scale with the axes."""

    def __init__(self, ax: Axes, explanation: SubgraphExplanation, drawing: Drawing) -> None:
        self.ax, self.explanation, self.drawing = ax, explanation, drawing
        self.low = drawing.positions.min(axis=0) - _MARGIN
        self.high = drawing.positions.max(axis=0) + _MARGIN
        self.kept = [ln.group >= 0 and bool(explanation.keep[ln.group]) for ln in drawing.links]
        links = zip(drawing.links, self.kept, strict=True)
        self.kept_nodes = {end for link, inside in links if inside for end in link[:2]}
        self.points = self._points_per_unit()

    def draw(self) -> None:
        """Draw halos under the chosen subgraph, then links, then nodes."""
        self._draw_halos()
        self._draw_links()
        self._draw_nodes()
        (left, top), (right, bottom) = self.low, self.high
        self.ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        self.ax.axis("off")

    def _points_per_unit(self) -> float:
        box = self.ax.get_window_extent()
        inches = np.array([box.width, box.height]) / self.ax.figure.dpi
        return 72 * float((inches / (self.high - self.low)).min())

    def _draw_halos(self) -> None:
        wide = 26 if self.drawing.molecule else 34
        look: dict[str, Any] = {"color": ROLES["chosen"].light, "zorder": 0}
        for index in np.flatnonzero(self.kept).tolist():
            self._stroke(link_path(self.drawing, index), wide, **look)
        for node in sorted(self.kept_nodes):
            self._circle(node, wide / 2, linewidth=0, **look)

    def _draw_links(self) -> None:
        explanation, drawing = self.explanation, self.drawing
        most = float(explanation.score.abs().max()) if explanation.num_groups else 0.0
        for index, link in enumerate(drawing.links):
            score = float(explanation.score[link.group]) if link.group >= 0 else 0.0
            strength = abs(score) / most if most else 0.0
            base = INK if self.kept[index] and drawing.molecule else _BOND
            colour = _mix(ROLES["for" if score >= 0 else "against"].light, base, strength)
            dash = ":" if link.group < 0 else "-"
            if link.added:
                colour, dash = _mix(ROLES["gain"].light, base, 1.0), "--"
            for shift, trim in bond_lines(drawing, index):
                path = link_path(drawing, index, shift, trim)
                self._stroke(path, 1.9 + 3.2 * strength, color=colour, linestyle=dash, zorder=1)
                if link.arrow:
                    self._arrow(path, colour)

    def _draw_nodes(self) -> None:
        drawing = self.drawing
        crowded = len(drawing.nodes) > _MOST_LABELS
        for node, number in enumerate(drawing.nodes):
            explained = number in self.explanation.flat_anchors
            small = crowded and not explained and node not in self.kept_nodes
            if explained:
                self._circle(node, _RADIUS + 5, fill=False, edgecolor=INK, linewidth=1.8, zorder=2)
            if not drawing.molecule:
                edge = ROLES["for"].light if node in self.kept_nodes else _BOND
                size = _RADIUS / 2 if small else _RADIUS
                face = self._type_colour(node)
                self._circle(node, size, facecolor=face, edgecolor=edge, linewidth=0.8, zorder=2)
            if not small and is_written(drawing, node):
                self._label(node)

    def _type_colour(self, node: int) -> Any:
        """Return the colour of a node's disc: a light one of its type, if it has one."""
        if not self.drawing.types:
            return _DISC
        colour = CLASSES[self.drawing.types[node] % len(CLASSES)].light
        return _mix(colour, _DISC, 0.35)

    def _label(self, node: int) -> None:
        molecule = self.drawing.molecule
        atom = ATOMS.get(self.drawing.kinds[node]) if molecule else None
        self.ax.annotate(
            as_text(self.drawing.labels[node]),
            self.drawing.positions[node],
            ha="center",
            va="center_baseline",
            zorder=3,
            color=atom.light if atom else INK,
            fontsize=self._letter(node) * self.points,
            fontweight="bold" if molecule else "normal",
        )

    def _letter(self, node: int) -> float:
        if not self.drawing.molecule:
            return 9.0
        return 12.0 if self.drawing.kinds[node] == "H" else 15.0

    def _circle(self, node: int, radius: float, **look: Any) -> None:
        from matplotlib.patches import Circle

        self.ax.add_patch(Circle(self.drawing.positions[node], radius, **look))

    def _stroke(self, path: np.ndarray, width: float, **look: Any) -> None:
        width *= self.points
        self.ax.plot(path[:, 0], path[:, 1], linewidth=width, solid_capstyle="round", **look)

    def _arrow(self, path: np.ndarray, colour: tuple[float, float, float]) -> None:
        style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
        style["mutation_scale"] = 11 * self.points
        self.ax.annotate("", path[-1], path[-2], arrowprops=style, zorder=1)


def as_text(text: str) -> str:
    """Escape a text so that matplotlib does not read it as math."""
    return text.replace("$", r"\$")


def is_written(drawing: Drawing, node: int) -> bool:
    """Return whether a node is labelled; bonded carbon is not, as in skeletal formulas."""
    joined = any(node in link[:2] for link in drawing.links)
    return not (drawing.molecule and drawing.labels[node] == "C" and joined)


def bond_lines(drawing: Drawing, index: int) -> list[tuple[float, float]]:
    """Return (shift, trim) of each line of a bond; in a ring the second is inside."""
    order, link = drawing.orders[index], drawing.links[index]
    side = drawing.sides[index] * (1 if link.start < link.end else -1)
    if order == 1:
        return [(0, 0)]
    if order == 3:
        return [(-5, 0), (0, 0), (5, 0)]
    return [(0, 0), (6.5 * (side or 1), 6)] if side or order == 1.5 else [(-3.2, 0), (3.2, 0)]


def link_path(
    drawing: Drawing, index: int, shift: float = 0.0, trim: float | None = None
) -> np.ndarray:
    """Return the points of a link, from centre to centre if `trim` is None."""
    link = drawing.links[index]
    start, end = drawing.positions[link.start], drawing.positions[link.end]
    if link.start == link.end:
        turn = np.linspace(0, 2 * np.pi, 25)
        return start + _RADIUS * np.stack([np.sin(turn), -1 - np.cos(turn)], axis=1)
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    across = np.array([-along[1], along[0]])
    if trim is not None:
        start = start + along * (trim + _gap(drawing, link.start)) + across * shift
        end = end - along * (trim + _gap(drawing, link.end)) + across * shift
    middle = (start + end) / 2 + across * 12 * link.bend
    t = np.linspace(0, 1, 21 if link.bend else 2)[:, None]
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end


def _gap(drawing: Drawing, node: int) -> float:
    """Return the distance from a node at which its links end."""
    label = drawing.labels[node]
    if drawing.molecule:
        return 0.0 if label == "C" else 10.0 + 2 * (len(label) - 1)
    return _RADIUS


def _mix(tone: str, base: str, share: float) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    red, green, blue = share * np.array(to_rgb(tone)) + (1 - share) * np.array(to_rgb(base))
    return float(red), float(green), float(blue)
