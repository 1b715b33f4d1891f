// A histogram: all items in the background, the selected ones by class in front of them.

class Histogram {
  constructor(values, classes, { integer, onPick }) {
    Object.assign(this, { values, classes, onPick });
    this.bins = binsOf(values.filter((value) => value !== null), integer);
    this.svg = makeSvg("svg", { class: "histogram", role: "img" });
    this.box = make("div", {}, this.svg);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  show(numbers) {
    this.numbers = numbers;
    this.draw();
  }

  draw() {
    const width = this.box.clientWidth;
    if (!width || !this.numbers) return;
    const [height, base] = [130, 108];
    const all = this.#counts(this.values.keys());
    const shown = this.#counts(this.numbers);
    const most = Math.max(1, ...all.map((perClass) => sum(perClass)));
    const step = (width - 12) / this.bins.length;
    const tall = (count) => (count / most) * (base - 8);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...this.bins.flatMap((bin, i) => {
      const x = 6 + i * step;
      const bar = { x: (x + 0.75).toFixed(1), width: Math.max(step - 1.5, 1).toFixed(1) };
      const total = sum(all[i]);
      const group = makeSvg("g", { class: "bin", "data-bin": i },
        makeSvg("title", {}, `${bin.name}: ${total}`),
        makeSvg("rect", { ...bar, class: "target", y: 0, height: base }),
        makeSvg("rect", { ...bar, class: "all", y: base - tall(total), height: tall(total) }));
      let top = base;
      shown[i].forEach((count, index) => {
        top -= tall(count);
        const part = makeSvg("rect", { ...bar, y: top.toFixed(1), height: tall(count).toFixed(1) });
        part.style.setProperty("fill", `var(--class-${index % 8})`);
        if (count) group.append(part);
      });
      group.addEventListener("click", () => this.onPick(bin));
      const each = Math.ceil(this.bins.length / Math.max(2, Math.floor(width / 44)));
      if (i % each) return [group];
      return [group, makeSvg("text", { class: "tick", x: x + step / 2, y: base + 16, "text-anchor": "middle" }, bin.tick)];
    }));
  }

  #counts(numbers) {
    const counts = this.bins.map(() => Array(this.classes.count).fill(0));
    for (const number of numbers) {
      const value = this.values[number];
      if (value === null) continue;
      counts[binAt(this.bins, value)][this.classes.of[number]] += 1;
    }
    return counts;
  }
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function median(values) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// Bins of equal width from `low` to `high`, both included; whole numbers get whole bins.
function binsOf(values, integer) {
  if (!values.length) return [{ low: 0, high: 0, name: "0", tick: "0" }];
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const width = integer ? Math.ceil((high - low + 1) / 30) : binWidth(high - low);
  const first = integer ? low : Math.floor(low / width + 1e-9) * width;
  const count = Math.max(1, Math.floor((high - first) / width + 1e-9) + 1);
  return Array.from({ length: count }, (_, i) => {
    const from = Number((first + i * width).toFixed(6));
    const to = Number((from + (integer ? width - 1 : width)).toFixed(6));
    const name = from === to ? String(from) : `${tickText(from)} to ${tickText(to)}`;
    return { low: from, high: to, name, tick: tickText(from) };
  });
}

function binWidth(range) {
  return [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5].find((width) => range / width <= 32) ?? range / 30 + 1e-9;
}

function binAt(bins, value) {
  const width = bins.length > 1 ? bins[1].low - bins[0].low : 1;
  return Math.min(bins.length - 1, Math.max(0, Math.floor((value - bins[0].low) / width + 1e-9)));
}
