// A grid of thumbnails of any length: only those near the screen are in the page.

const MOST_PRINTED = 60;
const CELL = { width: 196, height: 212, gap: 12 };

class Grid {
  constructor(box, makeCell) {
    Object.assign(this, { box, makeCell, order: [], cells: new Map() });
    const later = () => {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = null;
        this.render();
      });
    };
    addEventListener("scroll", later, { passive: true });
    new ResizeObserver(later).observe(box);
    addEventListener("beforeprint", () => this.render(MOST_PRINTED));
    addEventListener("afterprint", () => this.render());
  }

  show(order) {
    this.order = order;
    for (const cell of this.cells.values()) cell.remove();
    this.cells.clear();
    this.render();
  }

  // Renders what is near the screen, or the first `count` items.
  render(count = 0) {
    const width = this.box.clientWidth;
    if (!width) return;
    const columns = Math.max(2, Math.floor((width + CELL.gap) / (CELL.width + CELL.gap)));
    const across = (width + CELL.gap) / columns;
    const down = CELL.height + CELL.gap;
    this.box.style.height = `${Math.ceil(this.order.length / columns) * down}px`;
    const above = -this.box.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(above / down) - 2) * columns;
    const last = Math.max(count, (Math.ceil((above + innerHeight) / down) + 2) * columns);
    const wanted = this.order.slice(count ? 0 : first, Math.max(last, 0));
    const keep = new Set(wanted);
    for (const [number, cell] of this.cells) {
      if (!keep.has(number)) {
        cell.remove();
        this.cells.delete(number);
      }
    }
    let before = null;
    wanted.forEach((number, i) => {
      const place = (count ? 0 : first) + i;
      const cell = this.cells.get(number) ?? this.#add(number, before);
      cell.style.width = `${across - CELL.gap}px`;
      cell.style.transform = `translate(${(place % columns) * across}px, ${Math.floor(place / columns) * down}px)`;
      before = cell;
    });
  }

  // Adds a cell behind another, so that Tab walks along the grid.
  #add(number, before) {
    const cell = this.makeCell(number);
    if (before) before.after(cell);
    else this.box.prepend(cell);
    this.cells.set(number, cell);
    return cell;
  }
}
