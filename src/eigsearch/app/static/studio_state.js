// What is on the screen, as the part of the address behind #: an item, its edits, the class.
// Edits are sets, so that two ways to the same graph have the same address.

const EDIT_KINDS = { cut: "removed_edges", add: "added_edges", drop: "removed_nodes", zero: "zeroed_features" };

class EditState {
  constructor(item, edits = {}, target = null) {
    this.item = item;
    this.target = target;
    this.edits = Object.fromEntries(Object.values(EDIT_KINDS).map((kind) => [kind, new Set(edits[kind] ?? [])]));
  }

  static parse(hash) {
    const fields = new URLSearchParams(hash.replace(/^#/, ""));
    const item = fields.get("item");
    if (item === null || !/^\d{1,9}$/.test(item)) return null;
    const edits = {};
    for (const [short, kind] of Object.entries(EDIT_KINDS)) {
      edits[kind] = (fields.get(short) ?? "").split("_").filter((key) => /^-?\d{1,9}(\.\d{1,9})?$/.test(key));
    }
    const target = fields.get("class");
    return new EditState(Number(item), edits, target !== null && /^\d{1,6}$/.test(target) ? Number(target) : null);
  }

  toString() {
    const fields = [`item=${this.item}`];
    if (this.target !== null) fields.push(`class=${this.target}`);
    for (const [short, kind] of Object.entries(EDIT_KINDS)) {
      if (this.edits[kind].size) fields.push(`${short}=${[...this.edits[kind]].sort().join("_")}`);
    }
    return fields.join("&");
  }

  get count() {
    return Object.values(this.edits).reduce((total, entries) => total + entries.size, 0);
  }

  has(kind, key) {
    return this.edits[kind].has(key);
  }

  // The same state with an edit taken back if it is there, and made if it is not.
  toggled(kind, key) {
    const next = this.copy();
    if (!next.edits[kind].delete(key)) next.edits[kind].add(key);
    return next;
  }

  withTarget(target) {
    const next = this.copy();
    next.target = target;
    return next;
  }

  copy() {
    return new EditState(this.item, this.edits, this.target);
  }

  original() {
    return new EditState(this.item, {}, this.target);
  }

  // The body of a request.
  request() {
    const numbers = (key) => key.split(".").map(Number);
    const edits = {};
    for (const [kind, entries] of Object.entries(this.edits)) {
      if (entries.size) edits[kind] = [...entries].map((key) => (kind === "removed_nodes" ? Number(key) : numbers(key)));
    }
    return { item: this.item, edits, target: this.target };
  }
}

function pairKey(u, v, directed) {
  return directed || u < v ? `${u}.${v}` : `${v}.${u}`;
}
