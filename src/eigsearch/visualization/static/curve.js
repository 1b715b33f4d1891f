// Curves over size: lines with a marker at the current size and a flag at the chosen one.

const MARGIN = { top: 12, right: 14, bottom: 40, left: 40 };

class CurvePlot {
  // series: [{ name, size: [], value: [], colour, dash }]; range: [smallest, largest] value shown.
  constructor(series, { largest, label, onPick }) {
    Object.assign(this, { series, largest, label, onPick, current: null, flags: [] });
    this.svg = makeSvg("svg", { class: "curve", role: "img", "aria-label": label });
    this.svg.addEventListener("click", (event) => this.#pick(event));
    this.box = make("div", { class: "curve-box" }, this.svg);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  // flags: [{ size, value, colour }], points that do not move.
  show(current, flags = this.flags) {
    this.current = current;
    this.flags = flags;
    this.draw();
  }

  draw() {
    const width = this.box.clientWidth;
    if (!width) return;
    const height = Math.max(180, Math.min(260, width * 0.5));
    const [low, high] = this.#valueRange();
    const across = width - MARGIN.left - MARGIN.right;
    const down = height - MARGIN.top - MARGIN.bottom;
    const last = Math.max(this.largest, 2);
    this.x = (size) => MARGIN.left + ((size - 1) / (last - 1)) * across;
    this.y = (value) => MARGIN.top + ((high - value) / (high - low)) * down;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(
      ...this.#axes(low, high, last, width, height),
      ...this.series.map((one) => this.#line(one)),
      ...this.flags.map((flag) => this.#flag(flag)),
      ...this.#marker(height),
    );
  }

  #valueRange() {
    const chosen = this.flags.map((flag) => flag.value); // of a search, which may be on no curve
    const values = [...chosen, ...this.series.flatMap((one) => one.value)].filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const room = (high - low || 1) * 0.06;
    return [low < 0 ? low - room : low, high + room];
  }

  #axes(low, high, last, width, height) {
    const marks = [];
    for (const value of niceSteps(low, high, 6)) {
      const y = this.y(value);
      const kind = value === 0 ? "gridline zero" : "gridline";
      marks.push(makeSvg("line", { class: kind, x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      marks.push(makeSvg("text", { class: "tick", x: MARGIN.left - 7, y, dy: "0.35em", "text-anchor": "end" }, tickText(value)));
    }
    for (const size of niceSteps(1, last, Math.min(last - 1, width / 55)).filter(Number.isInteger)) {
      marks.push(makeSvg("text", { class: "tick", x: this.x(size), y: height - MARGIN.bottom + 16, "text-anchor": "middle" }, String(size)));
    }
    const title = { class: "tick title", x: width - MARGIN.right, y: height - 4, "text-anchor": "end" };
    return [...marks, makeSvg("text", title, this.label)];
  }

  #line({ name, size, value, colour, dash }) {
    const points = size.map((k, i) => (value[i] === null ? null : [this.x(k), this.y(value[i])]));
    const path = points.filter(Boolean).map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" L");
    const group = makeSvg("g", { class: "series", "data-series": name });
    group.style.setProperty("--colour", colour);
    if (path) group.append(makeSvg("path", { d: `M${path}`, "stroke-dasharray": dash || null }));
    if (points.length <= 60) {
      for (const point of points.filter(Boolean)) group.append(makeSvg("circle", { cx: point[0], cy: point[1], r: 2.4 }));
    }
    return group;
  }

  #flag({ size, value, colour }) {
    if (value === null || value === undefined) return makeSvg("g");
    const flag = makeSvg("circle", { class: "flag", cx: this.x(size), cy: this.y(value), r: 7 });
    flag.style.setProperty("--colour", colour);
    return flag;
  }

  #marker(height) {
    if (this.current === null) return [];
    const x = this.x(this.current);
    const line = { class: "marker", "data-size": this.current, x1: x, x2: x, y1: MARGIN.top, y2: height - MARGIN.bottom };
    const dots = this.series.map(({ name, size, value, colour }) => {
      const entry = size.indexOf(this.current);
      if (entry < 0 || value[entry] === null) return makeSvg("g");
      const dot = makeSvg("circle", { class: "dot", "data-series": name, cx: x, cy: this.y(value[entry]), r: 4.5 });
      dot.style.setProperty("--colour", colour);
      return dot;
    });
    return [makeSvg("line", line), ...dots];
  }

  #pick(event) {
    const box = this.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
    this.onPick(1 + share * (Math.max(this.largest, 2) - 1));
  }
}

function niceSteps(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
  const steps = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9; at += 1) steps.push(Number((at * step).toPrecision(6)));
  return steps;
}

function tickText(value) {
  return String(value).replace("-", "−");
}
