// Explainers and searches side by side on the current graph, computed on demand.

const USUAL = ["explainer:eig_search", "explainer:gradcam", "explainer:ig", "search:refine"];

class CompareCard {
  constructor(info, stateNow) {
    Object.assign(this, { info, stateNow, job: null, run: null }, fromTemplate("compare-card"));
    const { parts } = this;
    for (const { id, name, trains } of info.methods) {
      const input = make("input", { type: "checkbox", value: id, checked: USUAL.includes(id) });
      parts.choices.append(make("label", {}, input, ` ${name}`, trains ? make("span", { class: "soft" }, " trains") : ""));
    }
    parts.run.addEventListener("click", () => this.#run());
    parts.cancel.addEventListener("click", () => this.cancel());
    addEventListener("pagehide", () => this.cancel()); // nobody waits for it any more
  }

  // Another graph is on the screen: what was computed is not about it.
  forget() {
    this.cancel();
    Object.assign(this, { job: null, run: null, shown: undefined });
    this.parts.run.disabled = false;
    this.parts.cancel.disabled = true;
    this.parts.job.replaceChildren();
    this.parts.comparison.hidden = true;
    this.parts.comparison.replaceChildren();
  }

  async cancel() {
    const { job, run } = this;
    if (!job || job.finished) return;
    try {
      await endJob(job.id);
    } catch (error) {
      if (this.run === run) this.#tell(error);
    }
  }

  async #run() {
    const methods = [...this.parts.choices.querySelectorAll("input:checked")].map((input) => input.value);
    this.forget();
    const run = (this.run = {});
    this.parts.run.disabled = true;
    try {
      const job = await ask("api/compare", { ...this.stateNow().request(), methods });
      if (this.run !== run) return void (await endJob(job.id)); // another graph came on the screen
      this.job = job;
      await this.#follow(job.id);
    } catch (error) {
      if (this.run === run) this.#tell(error);
    }
  }

  #tell(error) {
    this.parts.job.replaceChildren(make("li", { class: "wrong" }, error.message));
    this.parts.run.disabled = false;
    this.parts.cancel.disabled = true;
  }

  async #follow(id) {
    this.#show();
    while (this.job?.id === id && !this.job.finished) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      const job = await ask(`api/jobs/${id}`);
      if (this.job?.id !== id) return;
      this.job = job;
      this.#show();
    }
  }

  #show() {
    const { parts, job, info } = this;
    const names = Object.fromEntries(info.methods.map(({ id, name }) => [id, name]));
    const done = new Map(job.done.map(({ name, error }) => [name, error]));
    const status = (id) => (done.has(id) ? done.get(id) ?? "✓" : job.running === id ? `${job.stage || "running"} …` : job.finished ? "cancelled" : "waiting");
    parts.job.replaceChildren(...job.methods.map((id) => make("li", { "data-method": id, class: done.get(id) ? "wrong" : "" }, `${names[id]}: ${status(id)}`)));
    if (job.error) parts.job.append(make("li", { class: "wrong" }, job.error));
    parts.run.disabled = !job.finished;
    parts.cancel.disabled = job.finished;
    if (job.result && job.result.answers.length !== this.shown) this.#showResult(job.result);
    if (job.finished) this.shown = undefined;
  }

  #showResult(result) {
    const { parts, info } = this;
    this.shown = result.answers.length;
    const { root } = fromTemplate("comparison-parts");
    result.colours.forEach(([light, dark], i) => root.style.setProperty(`--method-${i}`, `light-dark(${light}, ${dark})`));
    parts.comparison.hidden = false;
    parts.comparison.replaceChildren(root);
    new Comparison(root, { ...result, classes: info.classes, sentence: info.sentence, sentence_of_one: info.sentence_of_one });
  }
}

function endJob(id) {
  return ask(`api/jobs/${id}`, undefined, { method: "DELETE", keepalive: true });
}
