// Editing in the picture: links click away and back, nodes are chosen, edges are drawn, the view moves.

const DRAG = 6; // pixels from which a press is a drag and no click

class Canvas {
  // actions: { cut(key), choose(node), connect(node, node) }; nodes are positions in the picture.
  constructor(actions) {
    this.actions = actions;
    this.zoom = null;
    this.chosen = null;
  }

  attach(picture, item, base, state) {
    Object.assign(this, { picture, item, base, svg: picture.svg, full: picture.svg.viewBox.baseVal });
    this.full = { x: this.full.x, y: this.full.y, width: this.full.width, height: this.full.height };
    this.svg.classList.add("editable");
    this.svg.prepend(this.#ghosts(state));
    this.svg.append(this.#nodeTargets(state));
    picture.links.forEach((element, link) => {
      if (state.has("added_edges", item.keys[link])) element.classList.add("added");
    });
    this.svg.addEventListener("click", (event) => this.#click(event), true);
    this.svg.addEventListener("pointerdown", (event) => this.#press(event));
    this.svg.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    if (this.zoom) this.#apply();
    this.mark(this.chosen);
  }

  mark(node) {
    this.chosen = node;
    this.svg?.querySelectorAll(".node-target").forEach((target) => target.classList.toggle("chosen", Number(target.dataset.node) === node));
  }

  scale(factor, at = null) {
    const box = this.zoom ?? { ...this.full };
    const point = at ?? { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const width = Math.min(Math.max(box.width / factor, this.full.width / 40), this.full.width * 2);
    const ratio = width / box.width;
    this.zoom = { x: point.x - (point.x - box.x) * ratio, y: point.y - (point.y - box.y) * ratio, width, height: box.height * ratio };
    this.#apply();
  }

  fit() {
    this.zoom = null;
    this.#apply();
  }

  #apply() {
    const { x, y, width, height } = this.zoom ?? this.full;
    this.svg.setAttribute("viewBox", [x, y, width, height].map((value) => value.toFixed(1)).join(" "));
    this.svg.classList.toggle("zoomed", Boolean(this.zoom));
  }

  // What was removed stays visible as a trace, and comes back with a click.
  #ghosts(state) {
    const layer = makeSvg("g", { class: "ghosts" });
    this.base.group.forEach((_, link) => {
      const key = this.base.keys[link];
      if (!state.has("removed_edges", key)) return;
      const path = curvePath(this.base, link, this.item.molecule ? [9, 9] : 0, 0); // no dashes through letters
      layer.append(makeSvg("g", { class: "ghost", "data-key": key }, makeSvg("path", { class: "hit", d: path }), makeSvg("path", { class: "trace", d: path })));
    });
    return layer;
  }

  #nodeTargets(state) {
    const layer = makeSvg("g", { class: "node-targets" });
    this.item.x.forEach((x, node) => {
      const removed = state.has("removed_nodes", String(this.item.nodes[node]));
      const circle = makeSvg("circle", { class: `node-target${removed ? " removed" : ""}`, "data-node": node, cx: x, cy: this.item.y[node], r: this.item.molecule ? 12 : 13 });
      circle.append(makeSvg("title", {}, removed ? `${this.item.name[node]}, removed` : this.item.name[node]));
      layer.append(circle);
      if (removed) this.picture.nodes[node].classList.add("removed");
    });
    return layer;
  }

  #click(event) {
    event.stopPropagation(); // the static page cuts the ranking here
    if (this.dragged) {
      this.dragged = false;
      return;
    }
    const target = event.target.closest(".node-target");
    if (target) {
      this.actions.choose(Number(target.dataset.node));
      return;
    }
    const ghost = event.target.closest(".ghost");
    if (ghost) this.actions.cut(ghost.dataset.key);
    const link = this.picture.links.indexOf(event.target.closest(".link"));
    if (link >= 0) this.actions.cutLink(link);
  }

  #press(event) {
    if (event.button !== 0) return;
    const node = event.target.closest(".node-target");
    const begin = { x: event.clientX, y: event.clientY, box: { ...(this.zoom ?? this.full) }, node: node ? Number(node.dataset.node) : null };
    const link = event.target.closest(".link, .ghost");
    const stop = new AbortController();
    this.dragged = false;
    addEventListener("pointermove", (move) => !link && this.#drag(begin, move), { signal: stop.signal });
    for (const name of ["pointerup", "pointercancel"]) {
      addEventListener(name, (end) => {
        stop.abort();
        this.#release(begin, end);
      }, { signal: stop.signal });
    }
  }

  #drag(begin, event) {
    if (!this.dragged && Math.hypot(event.clientX - begin.x, event.clientY - begin.y) < DRAG) return;
    this.dragged = true;
    if (begin.node === null) this.#pan(begin, event);
    else this.#stretch(begin, event);
  }

  #pan(begin, event) {
    const unit = this.#unit(begin.box);
    this.zoom = { ...begin.box, x: begin.box.x - (event.clientX - begin.x) * unit, y: begin.box.y - (event.clientY - begin.y) * unit };
    this.#apply();
  }

  #stretch(begin, event) {
    this.rubber ??= this.svg.appendChild(makeSvg("line", { class: "rubber" }));
    const end = this.#point(event);
    for (const [name, value] of Object.entries({ x1: this.item.x[begin.node], y1: this.item.y[begin.node], x2: end.x, y2: end.y })) this.rubber.setAttribute(name, value);
  }

  #release(begin, event) {
    this.rubber?.remove();
    this.rubber = null;
    if (!this.dragged || begin.node === null || event.type === "pointercancel") return;
    const end = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".node-target");
    if (end && this.svg.contains(end) && Number(end.dataset.node) !== begin.node) this.actions.connect(begin.node, Number(end.dataset.node));
  }

  // Wheel zooms with Ctrl, as a pinch on a touchpad does; alone it scrolls the page.
  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.scale(Math.exp(-event.deltaY / 200), this.#point(event));
  }

  #unit(box) {
    const shown = this.svg.getBoundingClientRect();
    return Math.max(box.width / shown.width, box.height / shown.height);
  }

  #point(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return { x: point.x, y: point.y };
  }
}
