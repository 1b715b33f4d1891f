// The table of all predictions: only rows near the screen exist and are asked for.

const NARROW = matchMedia("(max-width: 860px)");
const PAGE = 200; // rows of one answer
const COLUMNS = [
  { name: "item", label: "number" },
  { name: "prediction", label: "prediction", title: "The class or the value that the model predicts" },
  { name: "confidence", label: "confidence", number: true, title: "P, the probability of the predicted class" },
  { name: "label", label: "label", narrow: true, title: "What is known to be true" },
  { name: "correct", label: "correct", title: "Whether the prediction is the label" },
  { name: "groups", label: "edges", number: true, narrow: true, title: "How many edges the explanation was chosen from" },
  { name: "size", label: "size", number: true, narrow: true, title: "How many of them the explanation has" },
  { name: "gain", label: "gain", number: true, title: "Fidelity+ − Fidelity−, in P of the predicted class; of a regression in its value" },
  { name: "sure", label: "how sure", number: true, narrow: true, title: "How many equally good answers agree with the explanation" },
];

class Triage {
  constructor(info) {
    Object.assign(this, { info, parts: partsOf(document.getElementById("triage")), pages: new Map(), rows: new Map(), question: new LastAsked() });
    this.filter = { sort: "item", descending: false, pattern: "", motif: "" };
    this.total = info.count;
    this.#buildColumns();
    this.#buildToolbar();
    this.motifs = new MotifStrip(this);
    const later = () => {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = null;
        this.render();
      });
    };
    addEventListener("scroll", later, { passive: true });
    new ResizeObserver(later).observe(this.parts.rows);
    NARROW.addEventListener("change", () => this.#redraw());
    this.parts.rows.addEventListener("keydown", (event) => this.#key(event));
    this.reload();
  }

  get visible() {
    return !document.getElementById("triage").hidden;
  }

  // Pixels, as the style has it: a finger needs more than a mouse.
  get rowHeight() {
    return NARROW.matches ? 44 : 38;
  }

  className(index) {
    return this.info.classes[index] ?? `class ${index}`;
  }

  query(offset) {
    const { elements } = this.parts.toolbar;
    const values = { ...this.filter, descending: this.filter.descending ? 1 : 0, offset };
    for (const name of ["correct", "prediction", "max_confidence", "max_gain"]) values[name] = elements[name].value;
    return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== undefined));
  }

  // Forgets all rows and asks again, after a change of the filter.
  reload() {
    this.pages.clear();
    this.generation = (this.generation ?? 0) + 1;
    for (const kind of ["csv", "parquet"]) this.parts[kind].href = `table.${kind}?${this.query()}`;
    this.#fetch(0);
  }

  // The address of the item beside another in the current order, where it is known.
  beside({ address, subject }, step) {
    for (const [page, entries] of this.pages) {
      const at = entries.findIndex((row) => addressOf(row.address) === address);
      const next = at < 0 ? null : entries[at + step] ?? this.pages.get(page + step)?.at(step < 0 ? -1 : 0);
      if (at >= 0) return next ? addressOf(next.address) : undefined;
    }
    const next = subject.item + step;
    return next >= 0 && next < this.info.count ? `item=${next}` : undefined;
  }

  render() {
    const { rows: box } = this.parts;
    if (!this.visible || !box.clientWidth) return;
    const { rowHeight } = this;
    box.style.height = `${this.total * rowHeight}px`;
    const above = -box.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(above / rowHeight) - 5);
    const last = Math.min(this.total, Math.ceil((above + innerHeight) / rowHeight) + 5);
    for (const [position, row] of this.rows) {
      if (position < first || position >= last) {
        row.remove();
        this.rows.delete(position);
      }
    }
    for (let position = first; position < last; position += 1) this.#place(position);
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) {
      if (!this.pages.has(page)) this.#fetch(page);
    }
  }

  async #fetch(page) {
    if (this.fetching?.has(page) && this.fetching.generation === this.generation) return;
    if (this.fetching?.generation !== this.generation) this.fetching = Object.assign(new Set(), { generation: this.generation });
    const { generation } = this;
    this.fetching.add(page);
    try {
      const answer = await ask(`api/rows?${this.query(page * PAGE)}`);
      if (generation === this.generation) this.#take(page, answer);
      if (answer.problem) showNotice(this.parts["triage-notice"], answer.problem);
    } catch (error) {
      showNotice(this.parts["triage-notice"], error.message);
    } finally {
      this.fetching.delete(page);
    }
  }

  #take(page, answer) {
    this.pages.set(page, answer.rows);
    this.onRows?.();
    this.total = answer.total;
    this.info.classes = answer.classes;
    this.#showProgress(answer);
    this.#redraw();
    clearTimeout(this.timer);
    const waiting = answer.known < answer.count;
    if (waiting) this.timer = setTimeout(() => this.#refresh(), 700);
  }

  // A row that stays keeps its element: a click on it or its focus must not get lost.
  #redraw() {
    const focused = this.focused;
    for (const [position, row] of this.rows) {
      const entry = this.#entry(position);
      if (entry && row.dataset.item === String(entry.item)) this.#fill(row, entry, position);
      else {
        row.remove();
        this.rows.delete(position);
      }
    }
    this.render();
    if (focused !== undefined) this.rows.get(focused)?.focus({ preventScroll: true });
  }

  // Asks again for what is on the screen while explanations arrive.
  #refresh() {
    if (!this.visible) {
      this.timer = setTimeout(() => this.#refresh(), 700);
      return;
    }
    const above = Math.max(0, -this.parts.rows.getBoundingClientRect().top);
    this.#fetch(Math.floor(above / this.rowHeight / PAGE));
  }

  #showProgress({ known, count, total, failed }) {
    const { parts } = this;
    parts.progress.setAttribute("aria-valuenow", known);
    parts["progress-bar"].style.setProperty("--share", known / count);
    const [done, all, not] = [known - failed, count, failed].map((number) => number.toLocaleString("en"));
    parts["progress-text"].textContent = (known === count && !failed ? "All explained" : `${done} of ${all} explained`) + (failed ? `, ${not} could not be` : "");
    parts.empty.hidden = total > 0;
    parts.empty.textContent = `${known < count ? "Nothing that is explained so far matches" : "No prediction matches"} these filters. Reset brings all rows back.`;
    parts.count.textContent = `${total.toLocaleString("en")} of ${count.toLocaleString("en")}`;
    parts.progress.classList.toggle("complete", known === count);
  }

  #entry(position) {
    return this.pages.get(Math.floor(position / PAGE))?.[position % PAGE];
  }

  #place(position) {
    const entry = this.#entry(position);
    if (this.rows.has(position) || !entry) return;
    const row = make("a", { role: "row", href: `#${addressOf(entry.address)}`, "data-item": entry.item });
    row.addEventListener("focus", () => (this.focused = position));
    row.addEventListener("blur", () => (this.focused = undefined));
    this.#fill(row, entry, position);
    const above = this.rows.get(position - 1);
    if (above) above.after(row); // Tab walks in the order of the page
    else this.parts.rows.prepend(row);
    this.rows.set(position, row);
  }

  #fill(row, entry, position) {
    const title = entry.name || `Graph ${entry.item}`;
    const columns = entry.failed ? COLUMNS.slice(0, 1) : COLUMNS;
    const cells = columns.map((column) => make("span", { class: cellClass(column), role: "gridcell" }, ...this.#cell(column.name, entry, title)));
    if (entry.failed) cells.push(make("span", { class: "cell failure", role: "gridcell" }, `not explained: ${entry.reason}`));
    row.className = `triage-row${entry.known ? "" : " pending"}`;
    row.title = entry.failed ? entry.reason : "";
    row.style.transform = `translateY(${position * this.rowHeight}px)`;
    row.replaceChildren(...cells);
  }

  #cell(name, entry, title) {
    const value = entry[name];
    if (name === "item") return this.#title(title);
    if (name === "correct") return value === null ? [] : [make("span", { class: value ? "right" : "wrong" }, value ? "✓" : "✗", make("span", { class: "judgement" }, value ? "" : " wrong"))];
    if (value === null) return [entry.known ? "–" : "…"];
    if (name === "sure") return [`${Math.round(value * entry.answers)} of ${entry.answers}`];
    if (name === "prediction" || name === "label") return this.#classCell(value, name, entry);
    return [name === "confidence" || name === "gain" ? decimals(value) : String(value)];
  }

  // On a narrow screen the word that every row begins with is left out.
  #title(text) {
    const [, kind, rest] = text.match(/^(Graph |Node |Link )(.*)$/) ?? [null, "", text];
    return [make("span", { class: "wide-only" }, kind), rest];
  }

  // A regression has no confidence, and its values are no classes.
  #classCell(value, name, { confidence }) {
    if (!Number.isInteger(value) || confidence === null) return [[decimals(value), this.info.unit].join(" ").trim()];
    const dot = make("i", { class: "class-dot" });
    dot.style.setProperty("background", `var(--class-${value % 8})`);
    return name === "prediction" ? [dot, this.className(value)] : [this.className(value)];
  }

  #buildColumns() {
    const { parts, info } = this;
    const noun = info.level !== "graph" ? info.level : info.molecules ? "molecule" : "graph";
    parts.noun.textContent = countOf(info.count, noun);
    const worded = (text) => text?.replace("edge", wordsOf({ molecule: info.molecules }).edge);
    this.headers = COLUMNS.map((column) => {
      const [name] = column.name === "prediction" ? info.output_names : [];
      const label = name ? `${column.label} (${name})` : worded(column.label);
      const button = make("button", { type: "button", "data-sort": column.name, title: worded(column.title) ?? null }, label);
      button.addEventListener("click", () => this.#sort(column.name));
      const cell = make("span", { class: cellClass(column), role: "columnheader" }, button);
      parts.columns.append(cell);
      return [column.name, cell, button, label];
    });
    this.#showSort();
  }

  #sort(name) {
    const { filter } = this;
    filter.descending = filter.sort === name ? !filter.descending : false;
    filter.sort = name;
    this.#showSort();
    this.reload();
  }

  #showSort() {
    for (const [name, cell, button, label] of this.headers) {
      const own = name === this.filter.sort;
      cell.setAttribute("aria-sort", own ? (this.filter.descending ? "descending" : "ascending") : "none");
      button.textContent = own ? `${label} ${this.filter.descending ? "↓" : "↑"}` : label;
    }
  }

  #buildToolbar() {
    const { parts, info } = this;
    parts.find.placeholder = placeholderOf(info);
    info.classes.forEach((name, index) => parts.classes.append(make("option", { value: index }, name)));
    parts.toolbar.addEventListener("submit", (event) => event.preventDefault());
    parts.find.addEventListener("keydown", (event) => event.key === "Enter" && this.#find(parts.find.value.trim()));
    parts.toolbar.addEventListener("change", (event) => event.target !== parts.find && this.reload());
    parts.find.addEventListener("search", () => parts.find.value || this.#find(""));
    parts.toolbar.addEventListener("reset", () => {
      Object.assign(this.filter, { pattern: "", motif: "" });
      this.question.drop();
      this.motifs.press("");
      showNotice(parts["triage-notice"], "");
      requestAnimationFrame(() => this.reload());
    });
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || !this.visible || event.target.matches("input, select")) return;
      event.preventDefault();
      parts.find.focus();
    });
  }

  async #find(text) {
    const { parts, filter, info } = this;
    showNotice(parts["triage-notice"], "");
    filter.pattern = "";
    this.question.drop();
    if (text) {
      try {
        if (!info.molecules || /^\d+$/.test(text)) {
          const found = await this.question.ask("api/find", { text });
          if (this.visible) location.hash = addressOf(found); // else a row was opened meanwhile
          return;
        }
        const { note } = await this.question.ask("api/search", { pattern: text });
        filter.pattern = text;
        showNotice(parts["triage-notice"], note);
      } catch (error) {
        if (error.name === "AbortError") return;
        showNotice(parts["triage-notice"], error.message);
      }
    }
    this.reload();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || this.focused === undefined) return;
    event.preventDefault();
    const position = this.focused + step;
    if (position < 0 || position >= this.total) return;
    const { rowHeight } = this;
    const top = this.parts.rows.getBoundingClientRect().top + position * rowHeight;
    if (top < 60) scrollBy(0, top - 60);
    if (top > innerHeight - 2 * rowHeight) scrollBy(0, top - innerHeight + 2 * rowHeight);
    this.render();
    this.rows.get(position)?.focus({ preventScroll: true });
  }
}

function placeholderOf({ level, typed, molecules }) {
  if (level === "link") return typed ? "type:3,type:7" : "two nodes: 3,7";
  if (level === "node") return typed ? "type:7" : "node number";
  return molecules ? "number, SMILES or SMARTS" : "graph number";
}

function cellClass({ name, number, narrow }) {
  return `cell ${name}${number ? " number" : ""}${narrow ? " wide-only" : ""}`;
}
