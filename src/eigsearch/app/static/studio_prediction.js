// The prediction: a bar for each class, a mark where it was before the edits, and what changed.

const MOST_BARS = 12;

class PredictionCard {
  constructor(info, onTarget) {
    Object.assign(this, { info, onTarget }, fromTemplate("prediction-card"));
  }

  show(now, original, state, roundTrip) {
    const { parts } = this;
    this.classes = now.classes;
    const cached = now.explain_ms < 1 && !state.count ? "" : ` · explanation ${milliseconds(now.explain_ms)}`;
    parts.time.textContent = `model ${milliseconds(now.predict_ms)}${cached} · round trip ${milliseconds(roundTrip)}`;
    parts.time.dataset.milliseconds = roundTrip.toFixed(1);
    parts.meaning.textContent = now.regression ? "The value that the model predicts." : "P, the probability that the model gives each class.";
    parts.bars.replaceChildren(...this.#bars(now, original, state));
    parts.changes.hidden = !state.count;
    parts["change-rows"].replaceChildren(...this.#changes(now, original).map(([name, before, after]) =>
      make("tr", { class: before === after ? "" : "kept" }, make("td", {}, name), make("td", { class: "number" }, before), make("td", { class: "number" }, after))));
    parts["edit-list"].textContent = editSentence(state, wordsOf(now.item));
  }

  className(index) {
    return (this.classes ?? this.info.classes)[index] ?? `class ${index}`;
  }

  #bars(now, original, state) {
    if (now.regression) {
      const text = (score) => [decimals(score, 3), this.info.unit].join(" ").trim();
      return now.scores.map((score, index) => make("p", { class: "value", "data-class": index, "data-value": score }, `${now.outputs[index]} = `, make("b", {}, text(score)), state.count ? ` was ${text(original.scores[index])}` : ""));
    }
    const order = now.scores.map((_, index) => index);
    if (order.length > MOST_BARS) order.sort((a, b) => now.scores[b] - now.scores[a]);
    const shown = order.slice(0, MOST_BARS);
    if (!shown.includes(now.item.target)) shown.push(now.item.target);
    return shown.map((index) => this.#bar(index, now, original, state));
  }

  #bar(index, now, original, state) {
    const fill = make("i");
    fill.style.setProperty("--share", now.scores[index]);
    fill.style.setProperty("background", `var(--class-${index % 8})`);
    const track = make("span", { class: "track" }, fill);
    if (state.count) {
      const mark = make("u", { title: `original ${decimals(original.scores[index])}` });
      mark.style.setProperty("--share", original.scores[index]);
      track.append(mark);
    }
    const explained = index === now.item.target;
    const predicted = index === now.item.prediction;
    const bar = make("button", { type: "button", class: "class-bar", "data-class": index, "data-value": now.scores[index], "aria-pressed": String(explained), title: `${now.outputs[index]}, ${explained ? "explained" : "click to explain this class"}` },
      make("span", { class: "class-name" }, make("span", { class: "clamped" }, this.className(index)), predicted ? make("b", { class: "predicted" }, " predicted") : ""), track, make("b", { class: "number" }, decimals(now.scores[index], 3)));
    bar.addEventListener("click", () => this.onTarget(predicted && state.target !== null ? null : index));
    return bar;
  }

  #changes(now, original) {
    const gain = ({ item }) => (item.found.plus.length && item.found.plus[0] !== null ? decimals(item.found.plus[0] - item.found.minus[0]) : "–");
    const said = ({ item, regression }) => (regression ? valueText(item, item.prediction) : this.className(item.prediction));
    const value = ({ item, scores }) => (item.regression ? valueText(item, scores[original.item.target] ?? item.value) : decimals(scores[original.item.target] ?? item.value, 3));
    const shared = ({ item }) => `${item.size} of ${item.groups}`;
    return [
      ["prediction", said(original), said(now)],
      [original.item.output, value(original), value(now)],
      [`size (${now.item.unit}s)`, shared(original), shared(now)],
      ["gain", gain(original), gain(now)],
    ];
  }
}

function milliseconds(value) {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

// What edges and nodes of a picture are called.
function wordsOf({ molecule }) {
  return molecule ? { edge: "bond", node: "atom", a: "a" } : { edge: "edge", node: "node", a: "an" };
}

function editSentence(state, { edge, node, a }) {
  if (!state.count) return `Click ${a} ${edge} away, choose ${node === "atom" ? "an" : "a"} ${node}, or drag from ${node} to ${node} for a new ${edge}.`;
  const { removed_edges: cut, added_edges: added, removed_nodes: nodes, zeroed_features: features } = state.edits;
  const parts = [];
  if (cut.size) parts.push(`${countOf(cut.size, edge)} removed`);
  if (added.size) parts.push(`${countOf(added.size, edge)} added`);
  if (nodes.size) parts.push(`${countOf(nodes.size, node)} removed`);
  if (features.size) parts.push(`${countOf(features.size, "feature")} set to zero`);
  return `${parts.join(", ")}. What was removed is dashed: click it back.`;
}
