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
      const { motifs, ...progress } = await ask("api/motifs", {});
      this.list = progress.list;
      this.buttons = new Map(motifs.map((motif) => [motif.id, this.#button(motif)]));
      parts.motifs.replaceChildren(...this.buttons.values());
      this.#show(progress);
      if (progress.left) await this.#searchOn(progress.list);
    } catch (error) {
      parts["motif-note"].textContent = error.message;
    }
  }

  // Searches the other explanations bit by bit, while somebody looks.
  async #searchOn(list) {
    for (let left = 1; left && this.list === list; ) {
      const { triage } = this;
      if (!triage.parts["motif-card"].open) return; // opening it again begins anew
      if (!triage.visible) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        continue;
      }
      const progress = await ask("api/motifs", { list });
      if (this.list === list) this.#show(progress);
      left = progress.left;
    }
    if (this.list === list && this.triage.filter.motif) this.triage.reload();
  }

  #show({ counts, searched, left, note }) {
    const { parts, info } = this.triage;
    [...this.buttons.values()].forEach((button, i) => (button.querySelector(".soft").textContent = `in ${counts[i].toLocaleString("en")}`));
    const number = (searched + left).toLocaleString("en");
    const where = left ? `${searched.toLocaleString("en")} of ${number} explanations` : countOf(searched, "explanation");
    const soFar = searched < info.count ? " so far" : "";
    parts["motif-note"].textContent = counts.length ? `In ${where}${soFar}. ${note}` : `Nothing recurs in ${where}${soFar}.`;
  }

  #button(motif) {
    const piece = pieceOf(motif.item, motif.links);
    const picture = new Picture(piece, piece, { thumbnail: true, carbons: true, least: [150, 84] });
    const button = make("button", { type: "button", class: "motif", "aria-pressed": "false" },
      picture.svg, make("b", {}, motif.name), make("span", { class: "soft" }));
    button.addEventListener("click", () => {
      this.press(this.triage.filter.motif === motif.id ? "" : motif.id);
      this.triage.reload();
    });
    return button;
  }
}
