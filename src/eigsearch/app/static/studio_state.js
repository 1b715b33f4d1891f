// What is on the screen, as the part of the address behind #: an item, its edits, the class.
// Edits are sets, so that two ways to the same graph have the same address.

const EDIT_KINDS = { cut: "removed_edges", add: "added_edges", drop: "removed_nodes", zero: "zeroed_features" };
const EDIT_KEY = /^-?\d{1,9}(\.\d{1,9}){0,2}$/;

class EditState {
  // subject: what is asked about, { item: 5 }, { node: ["paper", 7] } or { link: [3, 7] }.
  constructor(subject, edits = {}, target = null) {
    this.subject = subject;
    this.target = target;
    this.edits = Object.fromEntries(Object.values(EDIT_KINDS).map((kind) => [kind, new Set(edits[kind] ?? [])]));
  }

  static parse(hash) {
    const fields = Object.fromEntries(hash.replace(/^#/, "").split("&").map((field) => field.split("=")));
    const subject = subjectOf(fields);
    if (!subject) return null;
    const edits = {};
    for (const [short, kind] of Object.entries(EDIT_KINDS)) {
      edits[kind] = (fields[short] ?? "").split("_").filter((key) => EDIT_KEY.test(key));
    }
    return new EditState(subject, edits, /^\d{1,6}$/.test(fields.class ?? "") ? Number(fields.class) : null);
  }

  // The address of what is asked about, without edits.
  get address() {
    return addressOf(this.subject);
  }

  toString() {
    const fields = [this.address];
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
    return new EditState(this.subject, this.edits, this.target);
  }

  original() {
    return new EditState(this.subject, {}, this.target);
  }

  // The body of a request.
  request() {
    const numbers = (key) => key.split(".").map(Number);
    const edits = {};
    for (const [kind, entries] of Object.entries(this.edits)) {
      if (entries.size) edits[kind] = [...entries].map((key) => (kind === "removed_nodes" ? Number(key) : numbers(key)));
    }
    return { ...this.subject, edits, target: this.target };
  }
}

// What is asked about as the fields of an address name it, or null.
function subjectOf({ item, node, link }) {
  if (/^\d{1,9}$/.test(item ?? "")) return { item: Number(item) };
  const ends = (node ?? link ?? "").split(",").map(nodeOf);
  if (ends.includes(null) || ends.length !== (node === undefined ? 2 : 1)) return null;
  return node === undefined ? { link: ends } : { node: ends[0] };
}

function addressOf({ item, node, link }) {
  if (link) return `link=${link.map(nodeText).join(",")}`;
  return node === undefined ? `item=${item}` : `node=${nodeText(node)}`;
}

function nodeOf(text) {
  const [, type, number] = text.match(/^(?:([^:]+):)?(\d{1,9})$/) ?? [];
  if (number === undefined) return null;
  try {
    return type === undefined ? Number(number) : [decodeURIComponent(type), Number(number)];
  } catch {
    return null; // a percent sign that stands for nothing
  }
}

function nodeText(node) {
  return Array.isArray(node) ? `${encodeURIComponent(node[0])}:${node[1]}` : String(node);
}

function pairKey(u, v, directed) {
  return directed || u < v ? `${u}.${v}` : `${v}.${u}`;
}
