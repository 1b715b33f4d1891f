// One node: its features to set to zero, its neighbours, and edges to draw from it.

class NodeCard {
  // actions: { toggle(kind, key), connect(id, id), choose(id), explain(id) }; ids are nodes of the graph.
  constructor(info, actions) {
    Object.assign(this, { info, actions, node: null, from: null }, fromTemplate("node-card"));
    const { parts } = this;
    parts.number.addEventListener("change", () => this.#typed());
    parts.remove.addEventListener("click", () => actions.toggle("removed_nodes", String(this.node)));
    parts.draw.addEventListener("click", () => this.#startDrawing());
    parts.abandon.addEventListener("click", () => this.#stopDrawing());
    parts.connect.addEventListener("click", () => parts.other.value !== "" && this.#finish(Number(parts.other.value)));
    parts.other.addEventListener("keydown", (event) => event.key === "Enter" && parts.other.value !== "" && this.#finish(Number(parts.other.value)));
    parts.explain.addEventListener("click", () => actions.explain(this.node));
  }

  // A node was chosen in the picture or by number; while an edge is drawn, it is the other end.
  async choose(item, id, name = "") {
    if (this.from !== null && this.from !== id) {
      this.#finish(id);
      return;
    }
    const about = await ask("api/node", { item, node: id });
    Object.assign(this, { node: id, about });
    this.parts.number.value = id;
    this.parts.name.textContent = name === String(id) ? "" : name;
    this.parts.hint.hidden = true;
    this.parts.about.hidden = false;
    this.actions.refresh();
  }

  forget() {
    Object.assign(this, { node: null, about: null });
    this.#stopDrawing();
    this.parts.number.value = "";
    this.parts.name.textContent = "";
    this.parts.hint.hidden = false;
    this.parts.about.hidden = true;
  }

  show(state) {
    if (this.node === null) return;
    const { parts, about, node } = this;
    const removed = state.has("removed_nodes", String(node));
    parts.remove.textContent = removed ? "Bring the node back" : "Remove the node";
    parts.remove.disabled = this.info.level === "node" && node === state.item;
    parts.explain.hidden = this.info.level !== "node" || node === state.item;
    parts.draw.disabled = removed;
    parts.neighbours.replaceChildren(...this.#neighbours(about));
    parts.features.replaceChildren(...this.#features(about, state));
  }

  #neighbours({ neighbours, degree }) {
    if (!degree) return ["No neighbours."];
    const shown = neighbours.slice(0, 24).flatMap((id) => {
      const button = make("button", { type: "button", class: "plain-link", "data-node": id }, String(id));
      button.addEventListener("click", () => this.actions.choose(id));
      return [button, " "];
    });
    return [`${countOf(degree, "neighbour")}: `, ...shown, degree > 24 ? "…" : ""];
  }

  #features({ features, width }, state) {
    if (!width) return [make("p", { class: "small" }, "The graph has no features.")];
    if (!features.length) return [make("p", { class: "small" }, `All ${width} features are zero.`)];
    const title = make("p", { class: "small" }, `${features.length} of ${countOf(width, "feature")} are not zero; click one to set it to zero.`);
    return [title, ...features.slice(0, 60).map(([index, value]) => {
      const key = `${this.node}.${index}`;
      const gone = state.has("zeroed_features", key);
      const button = make("button", { type: "button", class: "feature", "data-feature": index, "aria-pressed": String(gone) }, `${index} = ${gone ? "0" : Number(value.toPrecision(3))}`);
      button.addEventListener("click", () => this.actions.toggle("zeroed_features", key));
      return button;
    })];
  }

  #typed() {
    const { value } = this.parts.number;
    if (/^\d+$/.test(value)) this.actions.choose(Number(value));
  }

  #startDrawing() {
    this.from = this.node;
    this.parts.drawing.hidden = false;
    this.parts.other.value = "";
    this.parts.other.focus({ preventScroll: true });
  }

  #stopDrawing() {
    this.from = null;
    this.parts.drawing.hidden = true;
  }

  #finish(id) {
    const from = this.from;
    this.#stopDrawing();
    if (from !== null) this.actions.connect(from, id);
  }
}
