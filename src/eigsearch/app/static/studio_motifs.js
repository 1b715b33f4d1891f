// Motifs of the explanations so far; a click filters the table.

class MotifStrip {
  constructor(triage) {
    Object.assign(this, { triage, buttons: new Map() });
    triage.parts["motif-card"].addEventListener("toggle", () => triage.parts["motif-card"].open && this.#load());
  }

  press(id) {
    this.triage.filter.motif = id;
    for (const [own, button] of this.buttons) button.setAttribute("aria-pressed", own === id);
  }

  async #load() {
    const { parts } = this.triage;
    parts["motif-note"].textContent = "Searching …";
    try {
      const { motifs, searched, note } = await ask("api/motifs", {});
      this.buttons = new Map(motifs.map((motif) => [motif.id, this.#button(motif)]));
      parts.motifs.replaceChildren(...this.buttons.values());
      const where = `In ${countOf(searched, "explanation")} so far.`;
      parts["motif-note"].textContent = motifs.length ? `${where} ${note}` : `Nothing recurs in ${countOf(searched, "explanation")} so far.`;
    } catch (error) {
      parts["motif-note"].textContent = error.message;
    }
  }

  #button(motif) {
    const piece = pieceOf(motif.item, motif.links);
    const picture = new Picture(piece, piece, { thumbnail: true, carbons: true, least: [150, 84] });
    const button = make("button", { type: "button", class: "motif", "aria-pressed": "false" },
      picture.svg, make("b", {}, motif.name), make("span", { class: "soft" }, `in ${motif.count.toLocaleString("en")}`));
    button.addEventListener("click", () => {
      this.press(this.triage.filter.motif === motif.id ? "" : motif.id);
      this.triage.reload();
    });
    return button;
  }
}
