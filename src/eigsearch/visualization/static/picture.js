// The picture of a graph: halos under the kept links, links as strong as their score, nodes.

const NODE_RADIUS = 11;
const TEXT_RADIUS = 10;
const MOST_LABELS = 80; // with more nodes than this, only kept and marked ones are labelled

class Picture {
  constructor(graph, answer, { thumbnail = false, carbons = false, least = [340, 240] } = {}) {
    this.graph = graph;
    Object.assign(this, { carbons, least });
    this.strength = strengths(answer.score);
    this.linksOf = answer.score.map(() => []);
    graph.group.forEach((group, link) => group >= 0 && this.linksOf[group].push(link));
    this.degree = degrees(graph);
    this.halos = makeSvg("g", { class: "halos" });
    this.links = [];
    this.nodes = [];
    this.svg = this.#draw(thumbnail);
  }

  // Shows the given groups as the kept subgraph.
  show(kept) {
    const keptNodes = new Set();
    this.links.forEach((element, link) => {
      const inside = kept.has(this.graph.group[link]);
      element.classList.toggle("kept", inside);
      if (inside) keptNodes.add(this.graph.from[link]).add(this.graph.to[link]);
    });
    this.nodes.forEach((element, node) => element.classList.toggle("kept", keptNodes.has(node)));
    this.halos.replaceChildren(...this.#drawHalos(kept, keptNodes));
  }

  // Shows how many of the equally good answers hold each link that is not kept; null for none.
  showShare(share, kept) {
    if (!share) return;
    this.graph.group.forEach((group, link) => {
      if (group < 0 || kept.has(group) || !share[group]) return;
      const halo = makeSvg("path", { class: "shared", d: curvePath(this.graph, link, 0, 0) });
      halo.style.setProperty("--share", share[group]);
      this.halos.prepend(halo);
    });
  }

  // Points at one group, or at none.
  mark(group) {
    this.svg.querySelectorAll(".marked").forEach((element) => element.classList.remove("marked"));
    if (group === null) return;
    for (const link of this.linksOf[group]) this.links[link].classList.add("marked");
  }

  // Fades the nodes of the hidden types, and the links at them.
  hideTypes(hidden) {
    const { graph } = this;
    const faded = (node) => hidden.has(graph.type[node]);
    this.nodes.forEach((element, node) => element.classList.toggle("faded", faded(node)));
    this.links.forEach((element, link) =>
      element.classList.toggle("faded", faded(graph.from[link]) || faded(graph.to[link])));
  }

  onPoint(enter, click) {
    const groupAt = (event) => {
      const link = event.target.closest("[data-group]");
      return link && link.dataset.group !== "-1" ? Number(link.dataset.group) : null;
    };
    this.svg.addEventListener("pointerover", (event) => enter(groupAt(event)));
    this.svg.addEventListener("pointerleave", () => enter(null));
    this.svg.addEventListener("click", (event) => groupAt(event) !== null && click(groupAt(event)));
  }

  #draw(thumbnail) {
    const { graph } = this;
    const links = makeSvg("g", { class: "links" });
    const nodes = makeSvg("g", { class: "nodes" });
    graph.group.forEach((group, link) => {
      this.links.push(this.#drawLink(link, group, thumbnail));
    });
    graph.x.forEach((_, node) => this.nodes.push(this.#drawNode(node)));
    links.append(...this.links);
    nodes.append(...this.nodes);
    const many = graph.x.length > MOST_LABELS;
    const kind = `picture ${graph.molecule ? "molecule" : "plain"}${many ? " many" : ""}`;
    return makeSvg("svg", { class: kind, viewBox: viewBox(graph, this.least), role: "img" }, this.halos, links, nodes);
  }

  #drawHalos(kept, keptNodes) {
    const { graph } = this;
    const radius = graph.molecule ? 13 : 17;
    const links = graph.group.map((group, link) => [group, link]).filter(([group]) => kept.has(group));
    return [
      ...links.map(([, link]) => makeSvg("path", { d: curvePath(graph, link, 0, 0) })),
      ...[...keptNodes].map((node) => makeSvg("circle", { cx: graph.x[node], cy: graph.y[node], r: radius })),
    ];
  }

  #drawLink(link, group, thumbnail) {
    const { graph } = this;
    const strength = group >= 0 ? this.strength[group] : 0;
    const kind = graph.added?.[link] ? " added" : group < 0 ? " fixed" : strength < 0 ? " against" : "";
    const element = makeSvg("g", { class: `link${kind}`, "data-group": group });
    element.style.setProperty("--strength", Math.abs(strength).toFixed(3));
    const gap = [this.#gap(link, graph.from[link]), this.#gap(link, graph.to[link])];
    if (!thumbnail) element.append(makeSvg("path", { class: "hit", d: curvePath(graph, link, 0, 0) }));
    for (const line of bondLines(graph, link, gap)) element.append(line);
    if (graph.arrow?.[link]) element.append(arrowHead(graph, link));
    return element;
  }

  #drawNode(node) {
    const { graph } = this;
    const [x, y] = [graph.x[node], graph.y[node]];
    const here = graph.anchors.includes(node);
    const element = makeSvg("g", { class: `node${here ? " explained" : ""}` });
    if (graph.type) {
      element.classList.add("typed");
      element.style.setProperty("--type", `var(--class-${graph.type[node] % 8})`);
    }
    if (here) element.append(makeSvg("circle", { class: "ring", cx: x, cy: y, r: NODE_RADIUS + 5 }));
    if (graph.molecule) {
      if (this.#isWritten(node)) element.append(atomText(graph.label[node], x, y));
      return element;
    }
    const inside = graph.label[node].length <= 3;
    element.append(makeSvg("circle", { class: "disc", cx: x, cy: y, r: inside ? NODE_RADIUS : 7 }));
    const below = inside ? 0 : 18;
    element.append(makeSvg("text", { x, y: y + below, dy: "0.35em" }, graph.label[node]));
    return element;
  }

  // Carbon is the corner of a skeleton, unless nothing else shows that it is there.
  #isWritten(node) {
    return this.carbons || this.graph.label[node] !== "C" || this.degree[node] === 0;
  }

  // How far before a node its link ends, so that the letters of an atom stay free.
  #gap(link, node) {
    if (!this.graph.molecule || !this.#isWritten(node)) return 0;
    const [ux, uy, vx, vy] = ends(this.graph, link);
    const slope = Math.abs(vx - ux) / (Math.hypot(vx - ux, vy - uy) || 1);
    return TEXT_RADIUS + 3.4 * (this.graph.label[node].length - 1) * slope;
  }
}

function strengths(scores) {
  const most = Math.max(...scores.map(Math.abs), 1e-12);
  return scores.map((score) => score / most);
}

function degrees(graph) {
  const degree = graph.x.map(() => 0);
  for (const node of [...graph.from, ...graph.to]) degree[node] += 1;
  return degree;
}

function ends(graph, link) {
  const [u, v] = [graph.from[link], graph.to[link]];
  return [graph.x[u], graph.y[u], graph.x[v], graph.y[v]];
}

function viewBox(graph, least) {
  const pad = 26;
  const [left, right] = [Math.min(...graph.x) - pad, Math.max(...graph.x) + pad];
  const [top, bottom] = [Math.min(...graph.y) - pad, Math.max(...graph.y) + pad];
  const width = Math.max(right - left, least[0]);
  const height = Math.max(bottom - top, least[1]);
  const [x, y] = [(left + right - width) / 2, (top + bottom - height) / 2];
  return [x, y, width, height].map((value) => value.toFixed(0)).join(" ");
}

// A straight line, shortened at both ends and shifted aside; a bow; or a loop at one node.
function curvePath(graph, link, gap, shift) {
  let [ux, uy, vx, vy] = ends(graph, link);
  if (graph.from[link] === graph.to[link]) {
    return `M${ux - 6},${uy - 9} c-16,-26 28,-26 12,0`;
  }
  const length = Math.hypot(vx - ux, vy - uy) || 1;
  const [dx, dy] = [(vx - ux) / length, (vy - uy) / length];
  const [from, to] = gap || [0, 0];
  const point = (x, y, along) =>
    `${(x + dx * along - dy * shift).toFixed(1)},${(y + dy * along + dx * shift).toFixed(1)}`;
  const bend = (graph.bend?.[link] ?? 0) * 12;
  const start = point(ux, uy, from);
  const stop = point(vx, vy, -to);
  if (!bend) return `M${start} L${stop}`;
  const [mx, my] = [(ux + vx) / 2 - dy * bend, (uy + vy) / 2 + dx * bend];
  return `M${start} Q${mx.toFixed(1)},${my.toFixed(1)} ${stop}`;
}

// One to three parallel lines; in a ring the second line is inside and a little shorter.
function bondLines(graph, link, gap) {
  const order = graph.order?.[link] ?? 1;
  const path = (shift, trim = 0, kind = "line") =>
    makeSvg("path", { class: kind, d: curvePath(graph, link, gap.map((g) => g + trim), shift) });
  if (order === 1) return [path(0)];
  if (order === 3) return [path(-5), path(0), path(5)];
  const lower = graph.from[link] < graph.to[link] ? 1 : -1;
  const side = (graph.side?.[link] ?? 0) * lower;
  if (order === 1.5) return [path(0), path(6 * (side || 1), 5, "line dashed")];
  return side ? [path(0), path(6.5 * side, 6)] : [path(-3.2), path(3.2)];
}

function arrowHead(graph, link) {
  const [ux, uy, vx, vy] = ends(graph, link);
  const bend = (graph.bend?.[link] ?? 0) * 12;
  const length = Math.hypot(vx - ux, vy - uy) || 1;
  const [mx, my] = [(ux + vx) / 2 - ((vy - uy) / length) * bend, (uy + vy) / 2 + ((vx - ux) / length) * bend];
  const angle = (Math.atan2(vy - my, vx - mx) * 180) / Math.PI;
  const where = `translate(${vx} ${vy}) rotate(${angle.toFixed(1)}) translate(${-NODE_RADIUS - 1} 0)`;
  return makeSvg("path", { class: "head", d: "M0,0 L-11,-5 L-11,5 Z", transform: where });
}

function atomText(label, x, y) {
  const element = label.match(/^[A-Z][a-z]?/)?.[0] ?? "";
  const text = makeSvg("text", { class: `atom-${element}`, x, y, dy: "0.35em" }, label);
  text.style.setProperty("--atom", `var(--atom-${element}, var(--ink))`);
  return text;
}
