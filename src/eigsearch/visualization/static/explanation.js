// The view of one explanation: picture, slider, curve and ranking that move together.

class ExplanationView {
  constructor(item, shared) {
    Object.assign(this, { item, shared });
    this.root = document.getElementById("explanation-view").content.firstElementChild.cloneNode(true);
    this.parts = partsOf(this.root);
    this.unit = item.features.length ? "group" : item.unit;
    this.sizes = item.sizes ?? sliderSizes(item);
    this.stop = new AbortController();
    this.#build();
    this.showChosen();
  }

  close() {
    this.stop.abort();
    this.root.remove();
  }

  showChosen() {
    const { item } = this;
    const kept = new Set(item.chosen);
    this.#show(item.size, kept, entryOf(item.found, 0), true);
    this.picture.showShare(item.agreement ? item.share : null, kept);
  }

  // Shows the first `size` groups of the ranking; the chosen subgraph where they are the same.
  showSize(size) {
    const { item } = this;
    if (item.flip) return this.showChosen(); // it has one size only
    const kept = new Set(item.rank.flatMap((rank, group) => (rank <= size ? [group] : [])));
    const chosen = size === item.size && item.chosen.every((group) => kept.has(group));
    this.#show(size, kept, entryOf(item.curve, item.curve.size.indexOf(size)), chosen);
  }

  mark(group, fromPicture = false) {
    this.picture.mark(group);
    this.ranking.mark(group, fromPicture);
  }

  #build() {
    const { item, parts } = this;
    parts.title.textContent = item.title;
    this.picture = new Picture(item, item);
    this.picture.svg.setAttribute("aria-label", `The graph, ${countOf(item.groups, this.unit)}`);
    parts.picture.append(this.picture.svg);
    this.picture.onPoint((group) => this.mark(group, true), (group) => this.#pickGroup(group));
    const links = { onMark: (group) => this.mark(group), onPick: (group) => this.#pickGroup(group) };
    this.ranking = new Ranking(item, item, this.picture.linksOf, links);
    parts.ranking.append(this.ranking.body);
    parts.reason.textContent = item.reason;
    parts.agreement.textContent = item.agreement;
    parts.shared.hidden = parts.share.hidden = !item.agreement;
    parts.unit.textContent = item.features.length ? `${item.unit} or feature` : item.unit;
    parts.for.textContent = `for ${item.output}`;
    parts.facts.append(...factsOf(item, this.shared));
    this.#buildTypes();
    this.#buildPaths();
    this.#buildCurve();
    this.#buildNotes();
    this.#buildControls();
    this.#buildConfiguration();
  }

  // The best paths between the ends of an explained link.
  #buildPaths() {
    const { item, parts } = this;
    parts["paths-card"].hidden = !item.paths?.length;
    for (const path of item.paths ?? []) {
      const entry = make("li", {}, path.text);
      entry.append(make("b", {}, path.score));
      parts.paths.append(entry);
    }
  }

  // The legend of node types; each entry switches its type off and on.
  #buildTypes() {
    const { item, parts } = this;
    const hidden = new Set();
    (item.types ?? []).forEach((name, type) => {
      if (!item.type.includes(type)) return;
      const dot = make("i", { class: "class-dot" });
      dot.style.setProperty("background", `var(--class-${type % 8})`);
      const button = make("button", { type: "button", class: "type", "aria-pressed": "true" }, dot, name);
      button.addEventListener("click", () => {
        const shown = hidden.delete(type) || !hidden.add(type);
        button.setAttribute("aria-pressed", String(shown));
        this.picture.hideTypes(hidden);
      });
      parts.types.append(button);
    });
  }

  #buildCurve() {
    const { item, parts } = this;
    const { size, plus, minus } = item.curve;
    const gain = plus.map((value, i) => (value === null || minus[i] === null ? null : value - minus[i]));
    const series = [
      { name: "Fidelity+", size, value: plus, colour: "var(--plus)", dash: "7 4" },
      { name: "Fidelity−", size, value: minus, colour: "var(--minus)", dash: "2 4" },
      { name: "gain", size, value: gain, colour: "var(--gain)", dash: "" },
    ];
    this.readout = series.map((one) => {
      const value = make("b");
      const swatch = makeSvg("svg", { class: "swatch", viewBox: "0 0 26 8" },
        makeSvg("line", { x1: 1, x2: 25, y1: 4, y2: 4, "stroke-dasharray": one.dash || null }));
      const entry = make("span", { class: "entry", "data-series": one.name }, swatch, ` ${one.name} `, value);
      entry.style.setProperty("--colour", one.colour);
      parts.readout.append(entry);
      return value;
    });
    this.curve = new CurvePlot(series, {
      largest: this.sizes.at(-1) ?? 1,
      label: `size (${this.unit}s)`,
      onPick: (size) => this.showSize(nearest(this.sizes, size)),
    });
    parts.curve.append(this.curve.box);
    parts["curve-output"].textContent = `changes of ${item.output}${item.value_unit ? ` in ${item.value_unit}` : ""}`;
    const found = entryOf(item.found, 0);
    this.flags = found ? [{ size: item.size, value: found.plus - found.minus, colour: "var(--gain)" }] : [];
    parts["curve-card"].hidden = size.length === 0;
  }

  #buildNotes() {
    const { item, parts } = this;
    if (item.flip) parts.hidden.textContent = item.reason;
    if (!item.hidden) return;
    const drawn = item.from.length;
    parts.hidden.textContent +=
      ` ${drawn.toLocaleString("en")} of ${(drawn + item.hidden).toLocaleString("en")} edges are drawn: ` +
      "the explanation, the highest-ranked edges and what surrounds them.";
  }

  #buildControls() {
    const { item, parts, sizes } = this;
    parts.controls.hidden = sizes.length < 2;
    parts["size-keys"].hidden = parts.controls.hidden;
    parts.slider.max = Math.max(sizes.length - 1, 0);
    const step = (by) => this.showSize(sizes[Math.min(Math.max(Number(parts.slider.value) + by, 0), sizes.length - 1)]);
    parts.slider.addEventListener("input", () => step(0));
    parts.smaller.addEventListener("click", () => step(-1));
    parts.larger.addEventListener("click", () => step(1));
    parts.back.textContent = `Chosen size: ${item.size}`;
    parts.back.addEventListener("click", () => this.showChosen());
    const keys = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), c: () => this.showChosen() };
    document.addEventListener("keydown", (event) => {
      const taken = event.target === parts.slider ? event.key !== "c" : event.target.matches?.("input, select");
      if (taken || event.ctrlKey || event.metaKey || event.altKey || sizes.length < 2 || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    }, { signal: this.stop.signal });
  }

  #buildConfiguration() {
    for (const [name, value] of this.shared.configuration) {
      this.parts.configuration.append(make("dt", {}, name), make("dd", {}, value));
    }
  }

  #pickGroup(group) {
    this.showSize(nearest(this.sizes, this.item.rank[group]));
  }

  #show(size, kept, entry, chosen) {
    const { item, parts } = this;
    this.picture.show(kept);
    this.ranking.show(kept);
    this.curve.show(size, this.flags);
    parts.slider.value = this.sizes.indexOf(nearest(this.sizes, size));
    parts.slider.setAttribute("aria-valuetext", countOf(size, this.unit));
    if (item.flip) return this.#showFlip();
    parts.size.textContent = `${size} of ${countOf(item.groups, this.unit)}`;
    parts.sentence.textContent = sentenceOf(item, this.shared, size, entry, chosen);
    parts.note.textContent = chosen && item.groups ? item.note : "";
    parts.back.disabled = chosen;
    const values = entry ? [entry.plus, entry.minus, entry.plus - entry.minus] : [null, null, null];
    values.forEach((value, i) => (this.readout[i].textContent = decimals(value)));
    this.#showEvidence(size, entry);
    this.size = size;
    this.root.dispatchEvent(new CustomEvent("size", { detail: size }));
  }

  // A counterfactual: what is changed, and what the model says before and after.
  #showFlip() {
    const { item, parts } = this;
    parts.sentence.textContent = item.flip.sentence;
    parts.halo.textContent = "removed";
    parts.added.hidden = !item.flip.added;
    parts.evidence.replaceChildren();
    if (!item.flip.flipped || item.regression) return;
    const rows = [["as it is", item.value, "whole"], ["after the change", item.found.removed[0], "without"]];
    parts.evidence.replaceChildren(...rows.map((row) => evidenceRow(...row)));
  }

  #showEvidence(size, entry) {
    const { item, parts } = this;
    if (!item.groups || item.regression) return;
    parts.evidence.dataset.output = item.output;
    const rows = [["whole graph", item.value, "whole"]];
    if (entry) {
      rows.push([`${countOf(size, this.unit)} alone`, entry.kept, "alone"]);
      rows.push([`without ${size === 1 ? "it" : "them"}`, entry.removed, "without"]);
    }
    parts.evidence.replaceChildren(...rows.map((row) => evidenceRow(...row)));
  }
}

function evidenceRow(name, value, kind) {
  const fillBar = make("i", { class: kind });
  fillBar.style.setProperty("--share", value);
  return make("div", { class: "evidence-row" }, make("span", {}, name), make("span", { class: "track" }, fillBar), make("b", {}, decimals(value)));
}

// What is explained, what the model says and what is true, as items of a list.
function factsOf(item, shared) {
  const regression = item.regression;
  const named = (value) => (regression ? valueText(item, value) : shared.classes[value] ?? `class ${value}`);
  const facts = [["predicted", named(item.prediction)]];
  if (!item.flip) facts.push(["explained", regression ? item.output : named(item.target)]);
  else if (item.flip.prediction !== null) facts.push(["after the change", named(item.flip.prediction)]);
  if (item.truth !== null) facts.push(["label", named(item.truth)]);
  if (item.smiles) facts.push(["SMILES", item.smiles]);
  const list = facts.map(([name, value]) => make("li", {}, make("span", {}, name), ` ${value}`));
  if (item.truth === null || regression) return list;
  const right = item.truth === item.prediction;
  return [...list, make("li", { class: right ? "right" : "wrong" }, right ? "✓ correct" : "✗ wrong")];
}

// A value of the explained output, with its unit; small ones with two digits that say something.
function valueText(item, value) {
  if (!item.value_unit || value === null) return decimals(value);
  const small = value !== 0 && Math.abs(value) < 0.1;
  const text = small ? String(Number(value.toPrecision(2))).replace("-", "−") : decimals(value);
  return `${text} ${item.value_unit}`;
}

function sliderSizes(item) {
  const evaluated = item.curve.size;
  const last = evaluated.length > 1 ? Math.max(...evaluated, item.size) : item.groups;
  return Array.from({ length: last }, (_, i) => i + 1);
}

function entryOf(curve, position) {
  if (position < 0 || position >= curve.size.length) return null;
  return Object.fromEntries(Object.entries(curve).map(([name, column]) => [name, column[position]]));
}

function nearest(sizes, wanted) {
  return sizes.reduce((best, size) => (Math.abs(size - wanted) < Math.abs(best - wanted) ? size : best), sizes[0]);
}

function sentenceOf(item, shared, size, entry, chosen = false) {
  const whole = valueText(item, item.value);
  if (!item.groups) return item.note;
  if (!entry) return `${item.output} = ${whole}. ${notEvaluated(item, size)}`;
  const template = size === 1 ? shared.sentence_of_one : shared.sentence;
  const features = chosen ? item.feature_size : item.feature_ranks.filter((rank) => rank <= size).length;
  const units = unitsOf(size - features, features, item.unit);
  const unit = features ? "feature" : item.unit;
  const [kept, removed] = [valueText(item, entry.kept), valueText(item, entry.removed)];
  return words(template, { output: item.output, whole, units, unit, kept, removed });
}

function unitsOf(edges, features, unit) {
  const parts = edges || !features ? [countOf(edges, unit)] : [];
  return [...parts, ...(features ? [countOf(features, "feature")] : [])].join(" and ");
}

function notEvaluated(item, size) {
  const evaluated = item.curve.size;
  const between = evaluated.length > 1 && size > evaluated[0] && size < evaluated.at(-1);
  const why = between ? `: ${item.unit}s of equal score enter together.` : ".";
  return `Size ${size} was not evaluated${why}`;
}
