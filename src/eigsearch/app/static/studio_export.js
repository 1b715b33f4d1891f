// What a user takes away: pictures, the page, numbers, and the Python code that repeats them.

const FILES = [["svg", "SVG"], ["png", "PNG"], ["html", "Page"], ["json", "JSON"]];

class ExportCard {
  constructor(stateNow, onProblem) {
    Object.assign(this, { stateNow, onProblem, question: new LastAsked() }, fromTemplate("export-card"));
    const { parts, root } = this;
    for (const [kind, label] of FILES) {
      const button = make("button", { type: "button", "data-kind": kind }, label);
      button.addEventListener("click", () => this.#save(kind));
      parts.files.append(button);
    }
    parts.copy.addEventListener("click", () => copyText(parts.copy, parts.code.textContent));
    root.addEventListener("toggle", () => this.show());
  }

  async show() {
    if (!this.root.open) return;
    try {
      this.parts.code.textContent = (await this.question.ask("api/snippet", this.stateNow().request())).code;
    } catch (error) {
      if (error.name !== "AbortError") this.onProblem(error.message);
    }
  }

  async #save(kind) {
    const state = this.stateNow();
    try {
      const blob = await ask(`api/export/${kind}`, state.request());
      const link = make("a", { href: URL.createObjectURL(blob), download: `explanation-${state.address.replace(/[^\w-]+/g, "-")}.${kind}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      this.onProblem(error.message);
    }
  }
}
