// The workbench: one prediction, its explanation, and what becomes of both when the graph changes.

const NOWHERE = { past: [], future: [], wanted: null };

class Workbench {
  constructor(info, triage) {
    Object.assign(this, { info, triage, parts: partsOf(document.getElementById("workbench")) });
    Object.assign(this, { ...NOWHERE, settled: NOWHERE, state: null, showsOriginal: false });
    this.canvas = new Canvas({
      cut: (key) => this.toggle("removed_edges", key),
      cutLink: (link) => this.#cutLink(link),
      choose: (node) => this.#choose(this.shown.item.nodes[node]),
      connect: (from, to) => this.#connect(this.shown.item.nodes[from], this.shown.item.nodes[to]),
    });
    this.prediction = new PredictionCard(info, (target) => this.change(this.wanted.withTarget(target)));
    this.node = new NodeCard(info, {
      toggle: (kind, key) => this.toggle(kind, key),
      connect: (from, to) => this.#connect(from, to),
      choose: (id) => this.#choose(id),
      refresh: () => this.#refreshNode(),
    });
    this.compare = new CompareCard(info, () => this.state);
    this.exports = new ExportCard(() => this.state, (text) => showNotice(this.parts.notice, text));
    this.#buildBar();
    triage.onRows = () => this.#showBeside(); // an address may be opened before the table is there
    addEventListener("keydown", (event) => this.#key(event));
  }

  // Shows a state that the address names. Edits that do not fit are left out, and said to be.
  async open(state) {
    const course = this.state?.address === state.address ? this : NOWHERE;
    this.opened = state;
    this.#showBeside();
    const shown = await this.#go({ past: course.past, future: course.future, wanted: state });
    if (shown === false) await this.#fallBack(state, this.parts.notice.textContent);
  }

  // To what is on the screen, or to the graph without edits that do not fit, with the reason why.
  async #fallBack(refused, reason) {
    if (!this.state && refused.toString() === refused.address) return; // there is nothing else
    if (this.state) this.opened = this.state;
    else await this.open(new EditState(refused.subject));
    showNotice(this.parts.notice, reason);
    this.#showBeside();
  }

  close() {
    this.request?.abort();
    this.view?.close();
    this.node.forget();
    this.compare.forget();
    showNotice(this.parts.notice, "");
    Object.assign(this, { ...NOWHERE, settled: NOWHERE, state: null, view: null, opened: null });
  }

  // Goes to another state of the same graph, which undo takes back.
  change(next) {
    return this.#go({ past: [...this.past, this.wanted], future: [], wanted: next });
  }

  toggle(kind, key) {
    return this.change(this.wanted.toggled(kind, key));
  }

  undo() {
    const { past, future, wanted } = this;
    if (past.length) return this.#go({ past: past.slice(0, -1), future: [...future, wanted], wanted: past.at(-1) });
  }

  redo() {
    const { past, future, wanted } = this;
    if (future.length) return this.#go({ past: [...past, wanted], future: future.slice(0, -1), wanted: future.at(-1) });
  }

  // An edit builds on the one before it, whose answer may still be on its way. What the server
  // refuses is forgotten, back to what is on the screen.
  async #go(course) {
    Object.assign(this, course);
    this.#showBar();
    const shown = await this.#load(course.wanted);
    if (shown) this.settled = course;
    if (shown === false) Object.assign(this, this.settled);
    this.#showBar();
    return shown;
  }

  // Asks for a state and shows it. False if the server refuses, and null if something else was
  // asked for meanwhile: what is on the screen stays. Another prediction takes no edits meanwhile.
  async #load(state) {
    this.request?.abort();
    this.parts.view.inert = this.state !== null && this.state.address !== state.address;
    const request = (this.request = new AbortController());
    const wait = setTimeout(() => this.parts.view.classList.add("waiting"), 250);
    try {
      const known = this.original?.address === state.address && this.original.target === state.target;
      const fresh = !known;
      const began = performance.now();
      const [answer, original] = await Promise.all([
        ask("api/answer", state.request(), { signal: request.signal }),
        fresh && state.count ? ask("api/answer", state.original().request(), { signal: request.signal }) : null,
      ]);
      if (request.signal.aborted) return null;
      if (fresh) this.original = { address: state.address, target: state.target, answer: original ?? answer };
      showNotice(this.parts.notice, "");
      this.#take(state, answer, performance.now() - began);
      return true;
    } catch (error) {
      if (request.signal.aborted) return null;
      showNotice(this.parts.notice, error.message);
      if (this.state) history.replaceState(null, "", `#${this.state}`);
      return false;
    } finally {
      clearTimeout(wait);
      if (this.request === request) this.#endWaiting();
    }
  }

  #endWaiting() {
    this.parts.view.classList.remove("waiting");
    this.parts.view.inert = false;
  }

  #take(state, answer, roundTrip) {
    if (this.state?.address !== state.address) this.#leave();
    if (this.state && this.state.toString() !== state.toString()) this.compare.forget();
    Object.assign(this, { state, answer, roundTrip, showsOriginal: false });
    if (location.hash !== `#${state}`) history.replaceState(null, "", `#${state}`);
    document.title = `${answer.item.title} · ${this.info.title} · Studio`;
    this.#render();
    this.exports.show();
  }

  // Another prediction comes on the screen: what was chosen is not about it.
  #leave() {
    this.canvas.zoom = null;
    this.canvas.chosen = null;
    this.node.forget();
    this.compare.forget();
    scrollTo(0, 0);
  }

  #render() {
    const focus = this.#focused();
    const original = this.original.answer;
    const shown = this.showsOriginal ? original : this.answer;
    const state = this.showsOriginal ? this.state.original() : this.state;
    this.view?.close();
    this.shown = shown;
    this.view = new ExplanationView(shown.item, { ...this.info, classes: shown.classes, configuration: shown.configuration });
    this.canvas.attach(this.view.picture, shown.item, original.item, state);
    this.#place(this.view.root);
    this.prediction.show(shown, original, state, this.roundTrip);
    this.node.show(this.state, shown);
    this.view.ranking.body.addEventListener("keydown", (event) => this.#rankingKey(event));
    this.#showBar();
    this.parts.view.replaceChildren(this.view.root);
    this.view.curve.draw();
    this.#restore(focus);
  }

  #place(root) {
    root.querySelector(".stage").before(this.bar.root);
    root.querySelector(".side").prepend(this.prediction.root, this.node.root);
    root.querySelector(".columns").after(this.compare.root, this.exports.root);
    root.querySelector(".keys").replaceChildren("Keys: ", make("kbd", {}, "Delete"), ` removes the ${wordsOf(this.shown.item).edge} of a row of the ranking, `, make("kbd", {}, "Ctrl"), " ", make("kbd", {}, "Z"), " undoes, ", make("kbd", {}, "←"), " ", make("kbd", {}, "→"), " change the size, ", make("kbd", {}, "Esc"), " returns to the table.");
  }

  #buildBar() {
    this.bar = fromTemplate("edit-bar");
    const { parts } = this.bar;
    parts.undo.addEventListener("click", () => this.undo());
    parts.redo.addEventListener("click", () => this.redo());
    parts.reset.addEventListener("click", () => this.change(this.wanted.original()));
    parts.original.addEventListener("click", () => {
      this.showsOriginal = !this.showsOriginal;
      this.#render();
    });
    parts.flip.addEventListener("click", () => this.#flip());
    parts.in.addEventListener("click", () => this.canvas.scale(1.4));
    parts.out.addEventListener("click", () => this.canvas.scale(1 / 1.4));
    parts.fit.addEventListener("click", () => this.canvas.fit());
    parts.link.addEventListener("click", () => copyText(parts.link, location.href));
  }

  #showBar() {
    const { parts } = this.bar;
    parts.undo.disabled = !this.past.length;
    parts.redo.disabled = !this.future.length;
    parts.reset.disabled = !this.state?.count;
    parts.original.disabled = !this.state?.count;
    parts.original.setAttribute("aria-pressed", this.showsOriginal);
  }

  #cutLink(link) {
    return this.#cut(this.shown.item.keys[link]);
  }

  #cut(key) {
    return this.toggle(this.wanted.has("added_edges", key) ? "added_edges" : "removed_edges", key);
  }

  // Takes away, one by one, the edges without which the prediction is another.
  async #flip() {
    const { flip } = this.bar.parts;
    let played = this.wanted;
    flip.disabled = true;
    try {
      const { removed_edges: pairs, note } = await ask("api/flip", played.request());
      for (const pair of pairs) {
        if (this.wanted !== played) return; // the user went on alone
        const shown = this.#cut(pair.join("."));
        played = this.wanted;
        await shown;
        await new Promise((resolve) => setTimeout(resolve, 350));
      }
      if (!pairs.length && this.wanted === played) showNotice(this.parts.notice, note);
    } catch (error) {
      showNotice(this.parts.notice, error.message);
    } finally {
      flip.disabled = false;
    }
  }

  // A new edge between two nodes, or one that was removed back.
  #connect(from, to) {
    const key = this.info.typed ? this.#typedKey(from, to) : pairKey(from, to, Boolean(this.shown.item.arrow));
    if (key) this.toggle(this.wanted.has("removed_edges", key) ? "removed_edges" : "added_edges", key);
  }

  // The edge between two nodes of a typed graph: of the chosen relation, or the first that fits.
  #typedKey(from, to) {
    const { item, relations } = this.shown;
    const typeOf = (id) => this.node.types.get(id) ?? item.types[item.type[item.nodes.indexOf(id)]];
    const [one, other] = [typeOf(from), typeOf(to)];
    const fitting = relations.filter(([, [source, , target]]) => (source === one && target === other) || (source === other && target === one));
    const wanted = Number(this.node.parts.relation.value);
    const [number, name, bothWays] = fitting.find(([each]) => each === wanted) ?? fitting[0] ?? [];
    if (number === undefined) {
      showNotice(this.parts.notice, `Expected an edge type between ${one} and ${other} (got none in this graph). Choose other nodes.`);
      return null;
    }
    const ends = name[0] === one && name[2] === other ? [from, to] : [to, from];
    return `${pairKey(...ends, !bothWays)}.${number}`;
  }

  async #choose(id) {
    try {
      await this.node.choose(this.state, id);
      showNotice(this.parts.notice, "");
    } catch (error) {
      if (error.name !== "AbortError") showNotice(this.parts.notice, error.message);
    }
  }

  #refreshNode() {
    this.canvas.mark(this.shown.item.nodes.indexOf(this.node.node));
    this.node.show(this.state, this.shown);
  }

  #rankingKey(event) {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    const [link] = this.view.picture.linksOf[Number(event.target.closest("tr").dataset.group)];
    this.#cutLink(link);
  }

  #key(event) {
    if (!this.state) return;
    if (event.key === "Escape" && !event.target.matches("input")) location.hash = "";
    if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || event.target.matches("input")) return;
    event.preventDefault();
    if (event.shiftKey) this.redo();
    else this.undo();
  }

  // Where the focus is, so that a new view has it at the same place.
  #focused() {
    const element = document.activeElement;
    if (!this.view || !element || !this.parts.view.contains(element)) return null;
    const row = element.closest("tbody[data-ranking] tr, [data-part=ranking] tbody tr");
    if (row) return { row: [...row.parentElement.children].indexOf(row) };
    const bar = element.closest(".class-bar");
    if (bar) return { select: `.class-bar[data-class="${bar.dataset.class}"]` };
    const feature = element.closest(".feature");
    if (feature) return { select: `.feature[data-feature="${feature.dataset.feature}"]` };
    return { element, part: element.dataset.part };
  }

  #restore(focus) {
    if (!focus) return;
    const rows = this.view.root.querySelectorAll("[data-part=ranking] tbody tr");
    let element = focus.element;
    if (focus.row !== undefined) element = rows[Math.min(focus.row, rows.length - 1)];
    if (focus.select) element = this.view.root.querySelector(focus.select);
    if (!element?.isConnected && focus.part) element = this.view.root.querySelector(`[data-part="${focus.part}"]`);
    element?.focus({ preventScroll: true });
  }

  #showBeside() {
    if (!this.opened) return;
    this.#link("previous", this.triage.beside(this.opened, -1));
    this.#link("next", this.triage.beside(this.opened, 1));
  }

  #link(part, address) {
    this.parts[part].hidden = address === undefined;
    this.parts[part].setAttribute("href", `#${address}`);
  }
}
