// One node: its features to set to zero, its neighbours, and edges to draw from it.

class NodeCard {
  // actions: { toggle(kind, key), connect(id, id, relation), choose(id or text), refresh() }; ids are nodes of the graph.
  constructor(info, actions) {
    Object.assign(this, { info, actions, node: null, from: null, types: new Map(), question: new LastAsked() }, fromTemplate("node-card"));
    const { parts } = this;
    if (info.typed) this.#takeTypes();
    const { edge, node } = wordsOf({ molecule: info.molecules });
    parts.noun.textContent = node === "atom" ? "Atom" : "Node";
    parts.hint.textContent = `Click ${node === "atom" ? "an" : "a"} ${node} or type its number: its features, its neighbours, a new ${edge}.`;
    parts.number.addEventListener("change", () => this.#typed());
    parts.remove.addEventListener("click", () => actions.toggle("removed_nodes", String(this.node)));
    parts.draw.addEventListener("click", () => this.#startDrawing());
    parts.abandon.addEventListener("click", () => this.#stopDrawing());
    parts.connect.addEventListener("click", () => this.#connectTyped());
    parts.other.addEventListener("keydown", (event) => event.key === "Enter" && this.#connectTyped());
  }

  // A node was chosen in the picture or by number; while an edge is drawn, it is the other end.
  async choose(state, id) {
    const about = await this.question.ask("api/node", { ...state.subject, at: id });
    this.types.set(about.node, about.type); // of nodes that are not drawn too
    if (this.from !== null && this.from !== about.node) {
      this.#finish(about.node);
      return;
    }
    Object.assign(this, { node: about.node, about });
    this.parts.number.value = this.info.typed ? about.name.replace(" ", ":") : about.node;
    this.parts.hint.hidden = true;
    this.parts.about.hidden = false;
    this.actions.refresh();
  }

  forget() {
    this.question.drop();
    Object.assign(this, { node: null, about: null });
    this.#stopDrawing();
    this.parts.number.value = "";
    this.parts.name.textContent = "";
    this.parts.hint.hidden = false;
    this.parts.about.hidden = true;
  }

  // shown: the answer on the screen, whose explained nodes cannot be removed.
  show(state, { item, relations }) {
    if (this.node === null) return;
    const { parts, about, node } = this;
    const position = item.nodes.indexOf(node);
    const name = item.name[position] ?? "";
    parts.name.textContent = name === about.name ? "" : name;
    const removed = state.has("removed_nodes", String(node));
    const { edge, node: noun, a } = wordsOf(item);
    parts.remove.textContent = removed ? `Bring the ${noun} back` : `Remove the ${noun}`;
    parts.draw.textContent = `Draw ${a} ${edge}`;
    parts.remove.disabled = item.anchors.includes(position);
    parts.draw.disabled = removed;
    parts.explain.replaceChildren(...this.#explain(about));
    parts.relation.hidden = !relations.length;
    this.#offer(relations, about.type);
    parts.neighbours.replaceChildren(...this.#neighbours(about, item));
    parts.features.replaceChildren(...this.#features(about, state));
  }

  // What can be explained from here: this node, or the link with it as an end.
  #explain({ explain }) {
    return explain.map(({ title, address }) => make("a", { class: "button", href: `#${addressOf(address)}` }, `Explain ${title.toLowerCase()}`));
  }

  // The relations that an edge from this node can have.
  #offer(relations, type) {
    const { relation } = this.parts;
    const chosen = relation.value;
    const fitting = relations.filter(([, [source, , target]]) => source === type || target === type);
    relation.replaceChildren(...fitting.map(([number, name]) => make("option", { value: number }, name.join(" "))));
    if (fitting.some(([number]) => String(number) === chosen)) relation.value = chosen;
  }

  #takeTypes() {
    for (const input of [this.parts.number, this.parts.other]) {
      input.type = "text";
      input.placeholder = "type:number";
    }
  }

  #neighbours({ neighbours, degree }, item) {
    if (!degree) return ["No neighbours."];
    const shown = neighbours.slice(0, 24).flatMap(([id, name]) => {
      const drawn = item.molecule ? item.name[item.nodes.indexOf(id)] : undefined;
      const button = make("button", { type: "button", class: "plain-link", "data-node": id }, drawn ?? name);
      button.addEventListener("click", () => this.actions.choose(id));
      return [button, " "];
    });
    return [`${countOf(degree, "neighbour")}: `, ...shown, degree > 24 ? "…" : ""];
  }

  #features({ features, width }, state) {
    if (!width) return [make("p", { class: "small" }, "The node has no features.")];
    if (!features.length) return [make("p", { class: "small" }, `All ${width} features are zero.`)];
    const title = make("p", { class: "small" }, `${features.length} of ${countOf(width, "feature")} not zero, as column = value; click one to set it to zero.`);
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
    if (value.trim()) this.actions.choose(this.#idOf(value.trim()));
  }

  // A number, or a node of a typed graph as it is written.
  #idOf(text) {
    return !this.info.typed && /^\d{1,9}$/.test(text) ? Number(text) : text;
  }

  #connectTyped() {
    const { value } = this.parts.other;
    if (value.trim()) this.actions.choose(this.#idOf(value.trim()));
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
