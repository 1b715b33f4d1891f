// Several explanations of one prediction: one layout, one plot, one slider.

const MEASURES = {
  gain: (entry) => entry.plus - entry.minus,
  "Fidelity+": (entry) => entry.plus,
  "Fidelity−": (entry) => entry.minus,
};

class Comparison {
  // root: the element that holds the parts of comparison.html.
  constructor(root, { graph, answers, ...shared }) {
    Object.assign(this, { graph, answers, shared, measure: "gain" });
    this.parts = partsOf(root);
    this.largest = Math.max(...answers.map((answer) => sliderSizes(answer).at(-1) ?? 1));
    this.#buildHead();
    this.#buildPictures();
    this.#buildNumbers();
    this.#buildMeasures();
    this.#buildControls();
    this.showMeasure("gain");
    this.showChosen();
  }

  showChosen() {
    this.#show(null, (answer) => ({ size: answer.size, kept: new Set(answer.chosen), entry: entryOf(answer.found, 0) }));
  }

  showSize(size) {
    this.#show(size, (answer) => ({
      size: Math.min(size, answer.groups),
      kept: new Set(answer.rank.flatMap((rank, group) => (rank <= size ? [group] : []))),
      entry: entryOf(answer.curve, answer.curve.size.indexOf(size)),
    }));
  }

  showMeasure(measure) {
    const { answers, parts } = this;
    const of = MEASURES[measure];
    const series = answers.map((answer, i) => ({
      name: answer.name,
      size: answer.curve.size,
      value: answer.curve.size.map((_, entry) => of(entryOf(answer.curve, entry))),
      colour: `var(--method-${i})`,
      dash: answer.dash,
    }));
    this.flags = answers.flatMap((answer, i) => {
      const found = entryOf(answer.found, 0);
      return found ? [{ size: answer.size, value: of(found), colour: `var(--method-${i})` }] : [];
    });
    this.curve = new CurvePlot(series, {
      largest: this.largest,
      label: `size (${this.shared.unit}s)`,
      onPick: (size) => this.showSize(Math.min(Math.max(Math.round(size), 1), this.largest)),
    });
    parts.curve.replaceChildren(this.curve.box);
    this.curve.show(this.size ?? null, this.flags);
  }

  mark(group) {
    for (const picture of this.pictures) picture.mark(group);
  }

  #buildHead() {
    const { answers, shared, parts } = this;
    const [first] = answers;
    const methods = answers.length === 1 ? "One explanation" : `${answers.length} explanations`;
    parts.headline.textContent = `${methods} of ${shared.output} = ${decimals(first.value)}`;
    parts.facts.append(...factsOf(first, shared));
    for (const [name, value] of shared.configuration) parts.configuration.append(make("dt", {}, name), make("dd", {}, value));
    if (this.graph.hidden) {
      parts.hidden.textContent = `${this.graph.from.length} of ${this.graph.from.length + this.graph.hidden} edges are drawn: what was chosen, the highest-ranked edges and what surrounds them.`;
    }
  }

  #buildPictures() {
    this.captions = [];
    this.pictures = this.answers.map((answer, i) => {
      const picture = new Picture(this.graph, answer);
      const caption = make("p", { class: "small" });
      picture.svg.setAttribute("aria-label", `The subgraph of ${answer.name}`);
      picture.onPoint((group) => this.mark(group), (group) => this.showSize(answer.rank[group]));
      const card = make("section", { class: "card method", "data-method": answer.name },
        make("h2", {}, this.#swatch(i), ` ${answer.name}`), make("div", { class: "stage" }, picture.svg), caption);
      this.captions.push(caption);
      this.parts.pictures.append(card);
      return picture;
    });
  }

  #swatch(i) {
    const line = makeSvg("line", { x1: 1, x2: 25, y1: 4, y2: 4, "stroke-dasharray": this.answers[i].dash || null });
    const swatch = makeSvg("svg", { class: "swatch", viewBox: "0 0 26 8" }, line);
    swatch.style.setProperty("--colour", `var(--method-${i})`);
    return swatch;
  }

  #buildNumbers() {
    this.cells = this.answers.map((answer, i) => {
      const cells = Array.from({ length: 4 }, () => make("td", { class: "number" }));
      this.parts.numbers.append(make("tr", { "data-method": answer.name }, make("td", {}, this.#swatch(i), ` ${answer.name}`), ...cells));
      return cells;
    });
  }

  #buildMeasures() {
    for (const measure of Object.keys(MEASURES)) {
      const input = make("input", { type: "radio", name: "measure", value: measure, checked: measure === "gain" });
      input.addEventListener("change", () => this.showMeasure(measure));
      this.parts.measures.append(make("label", {}, input, ` ${measure}`));
    }
  }

  #buildControls() {
    const { parts } = this;
    parts.slider.min = 1;
    parts.slider.max = this.largest;
    parts.slider.value = this.answers[0].size;
    parts.slider.addEventListener("input", () => this.showSize(Number(parts.slider.value)));
    parts.chosen.addEventListener("click", () => this.showChosen());
  }

  #show(size, pick) {
    const { parts, shared } = this;
    this.size = size;
    if (size) parts.slider.value = size;
    parts.size.textContent = size ? countOf(size, shared.unit) : "as each chose";
    parts.chosen.disabled = size === null;
    this.curve.show(size, this.flags);
    this.answers.forEach((answer, i) => {
      const { size: own, kept, entry } = pick(answer);
      this.pictures[i].show(kept);
      const values = entry ? [entry.plus, entry.minus, entry.plus - entry.minus] : [null, null, null];
      [String(own), ...values.map((value) => decimals(value))].forEach((text, column) => (this.cells[i][column].textContent = text));
      this.captions[i].textContent = sentenceOf({ ...answer, unit: shared.unit }, shared, own, entry, size === null);
    });
  }
}
