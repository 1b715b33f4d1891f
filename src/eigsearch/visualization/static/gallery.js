// The gallery of a data set: overview, filters, thumbnails, and one explanation opened in place.

class Gallery {
  constructor({ items, motifs, ...shared }) {
    Object.assign(this, { items, motifs, shared });
    this.parts = partsOf(document);
    this.facets = items.map(facetsOf);
    this.regression = items.every((item) => item.regression);
    this.filter = { ...EVERYTHING };
    this.ascending = true;
    this.grid = new Grid(this.parts.grid, (number) => this.#thumbnail(number));
    this.#buildToolbar();
    this.#buildOverview();
    this.#buildMotifs();
    this.update();
    addEventListener("hashchange", () => this.#route());
    addEventListener("keydown", (event) => event.key === "Escape" && this.view && (location.hash = ""));
    this.#route();
  }

  update() {
    const { facets, filter, parts } = this;
    this.order = select(facets, filter, parts.toolbar.elements.sort.value, this.ascending).map((facet) => facet.number);
    parts.count.textContent = `${this.order.length.toLocaleString("en")} of ${facets.length.toLocaleString("en")}`;
    this.grid.show(this.order);
    for (const histogram of this.histograms) histogram.show(this.order);
    for (const [motif, button] of this.motifButtons) button.setAttribute("aria-pressed", motif === this.motif);
  }

  className(index) {
    return this.shared.classes[index] ?? `class ${index}`;
  }

  #buildToolbar() {
    const { parts, facets } = this;
    const { toolbar } = parts;
    for (const label of toolbar.querySelectorAll("[data-classes]")) label.hidden = this.regression;
    toolbar.elements.sort.querySelector("[value=value]").hidden = !this.regression;
    for (const target of [...new Set(facets.map((facet) => facet.target))].sort((a, b) => a - b)) {
      toolbar.elements.target.append(make("option", { value: target }, this.className(target)));
    }
    toolbar.addEventListener("input", () => this.#readToolbar());
    toolbar.addEventListener("submit", (event) => event.preventDefault());
    toolbar.addEventListener("reset", () => {
      this.#pickMotif(null);
      this.#turn(true);
      requestAnimationFrame(() => this.#readToolbar());
    });
    parts.direction.addEventListener("click", () => {
      this.#turn(!this.ascending);
      this.update();
    });
  }

  #turn(ascending) {
    this.ascending = ascending;
    this.parts.direction.textContent = ascending ? "↑" : "↓";
    this.parts.direction.setAttribute("aria-label", ascending ? "Ascending" : "Descending");
  }

  #readToolbar() {
    const { elements } = this.parts.toolbar;
    for (const name of ["target", "correct", "minSize", "maxSize", "minGain", "maxGain"]) {
      this.filter[name] = elements[name].value;
    }
    this.update();
  }

  #buildOverview() {
    const { facets, parts } = this;
    const targets = facets.map((facet) => facet.target);
    const classes = { of: targets, count: targets.reduce((most, target) => Math.max(most, target), 0) + 1 };
    const plot = (name, integer) => {
      const values = facets.map((facet) => facet[name]);
      const histogram = new Histogram(values, classes, { integer, onPick: (bin) => this.#pickRange(name, bin) });
      histogram.svg.setAttribute("aria-label", `Distribution of ${name}`);
      parts[`${name}-plot`].append(histogram.box);
      parts[`${name}-median`].textContent = `median ${integer ? median(values) : decimals(median(values))}`;
      return histogram;
    };
    this.histograms = [plot("size", true), plot("gain", false)];
    const judged = facets.filter((facet) => facet.correct !== null);
    const right = judged.filter((facet) => facet.correct).length;
    parts.lead.append(...(this.regression ? this.#valueRange() : this.#classCounts(targets)));
    if (judged.length) parts.lead.append(make("span", {}, `${percent(right / judged.length)} predicted correctly`));
  }

  #classCounts(targets) {
    return [...new Set(targets)].sort((a, b) => a - b).map((target) => {
      const dot = make("i", { class: "class-dot" });
      dot.style.setProperty("background", `var(--class-${target % 8})`);
      const count = targets.filter((other) => other === target).length;
      return make("span", {}, dot, `${this.className(target)} ${count.toLocaleString("en")}`);
    });
  }

  #valueRange() {
    const values = this.items.map((item) => item.value).filter((value) => value !== null).sort((a, b) => a - b);
    if (!values.length) return [];
    const [first] = this.items;
    const range = [values[0], values.at(-1)].map((value) => valueText(first, value)).join(" to ");
    return [make("span", {}, `${first.output} from ${range}, median ${valueText(first, median(values))}`)];
  }

  #pickRange(name, bin) {
    const { elements } = this.parts.toolbar;
    const suffix = name === "size" ? "Size" : "Gain";
    elements[`min${suffix}`].value = bin.low;
    elements[`max${suffix}`].value = bin.high;
    this.#readToolbar();
  }

  #buildMotifs() {
    const totals = new Map();
    for (const { target } of this.facets) totals.set(target, (totals.get(target) ?? 0) + 1);
    this.motifButtons = new Map();
    for (const motif of this.motifs) {
      const item = pieceOf(this.items[motif.item], motif.links);
      const picture = new Picture(item, item, { thumbnail: true, carbons: true, least: [150, 84] });
      const button = make("button", { type: "button", class: "motif", "aria-pressed": false },
        picture.svg, make("b", {}, motif.name), make("span", { class: "soft" }, `in ${motif.items.length.toLocaleString("en")}`),
        ...this.#motifShares(motif, totals));
      button.addEventListener("click", () => {
        this.#pickMotif(this.motif === motif ? null : motif);
        this.update();
      });
      this.motifButtons.set(motif, button);
    }
    this.parts.motifs.append(...this.motifButtons.values());
    this.parts["motif-note"].textContent = this.shared.motif_note;
  }

  #motifShares(motif, totals) {
    if (this.regression) {
      const [first] = this.items;
      const middle = median(motif.items.map((number) => this.items[number].value).filter((value) => value !== null));
      return [make("span", { class: "share" }, `median ${first.output} ${valueText(first, middle)}`)];
    }
    const counts = new Map();
    for (const number of motif.items) {
      const { target } = this.facets[number];
      counts.set(target, (counts.get(target) ?? 0) + 1);
    }
    const shares = [...totals].map(([target, total]) => [target, (counts.get(target) ?? 0) / total]);
    const highest = shares.sort((a, b) => b[1] - a[1]).slice(0, 3);
    return highest.sort((a, b) => a[0] - b[0]).map(([target, share]) => {
      const bar = make("i");
      bar.style.setProperty("--share", share);
      bar.style.setProperty("background", `var(--class-${target % 8})`);
      const title = `${motif.name} in ${percent(share)} of the explanations of ${this.className(target)}`;
      return make("span", { class: "share", title }, make("span", { class: "track" }, bar), `${percent(share)} of ${this.className(target)}`);
    });
  }

  #pickMotif(motif) {
    this.motif = motif;
    this.filter.motif = motif ? new Set(motif.items) : null;
  }

  #thumbnail(number) {
    const item = this.items[number];
    const facet = this.facets[number];
    const picture = new Picture(item, item, { thumbnail: true });
    picture.show(new Set(item.chosen));
    const dot = make("i", { class: "class-dot" });
    dot.style.setProperty("background", `var(--class-${item.target % 8})`);
    const judged = facet.correct === null ? "" : facet.correct ? "✓" : "✗";
    const mark = make("span", { class: facet.correct ? "right" : "wrong", title: facet.correct ? "correct" : "wrong" }, judged);
    const said = item.regression ? [valueText(item, item.value)] : [dot, `${this.className(item.target)} ${decimals(item.value)}`];
    const smiles = item.smiles ? [make("span", { class: "caption soft" }, make("span", { class: "class-name", title: item.smiles }, item.smiles))] : [];
    return make("a", { class: "thumbnail", role: "listitem", href: `#${number}`, "data-number": number },
      picture.svg,
      make("span", { class: "caption" }, make("b", { class: "class-name", title: item.title }, item.title), mark),
      ...smiles,
      make("span", { class: "caption soft" }, make("span", { class: "class-name" }, ...said), make("span", {}, String(item.size), make("span", { class: "of" }, `/${item.groups}`), ` · ${decimals(facet.gain)}`)));
  }

  #route() {
    const number = location.hash.length > 1 ? Number(location.hash.slice(1)) : NaN;
    const item = this.items[number];
    if (item && !this.view) this.scrolled = scrollY;
    this.view?.close();
    this.view = item ? new ExplanationView({ ...item, title: `${this.shared.title} · ${item.title}` }, this.shared) : null;
    document.getElementById("gallery").hidden = Boolean(item);
    document.getElementById("detail").hidden = !item;
    if (this.view) this.#open(number);
    else {
      this.grid.render();
      scrollTo(0, this.scrolled ?? scrollY);
    }
  }

  #open(number) {
    document.getElementById("detail").append(this.view.root);
    const place = this.order.indexOf(number);
    const go = (part, target) => {
      this.parts[part].hidden = target === undefined;
      this.parts[part].setAttribute("href", `#${target}`);
    };
    go("previous", this.order[place - 1]);
    go("next", this.order[place + 1]);
    scrollTo(0, 0);
  }
}

function percent(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

new Gallery(readData());
document.documentElement.dataset.ready = "true";
