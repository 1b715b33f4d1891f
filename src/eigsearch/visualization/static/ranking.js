// The ranking as a table: a row for each drawn group, linked with the picture both ways.

class Ranking {
  constructor(graph, answer, linksOf, { onMark, onPick }) {
    const strength = strengths(answer.score);
    const groups = answer.rank.map((_, group) => group).sort((a, b) => answer.rank[a] - answer.rank[b]);
    const edges = groups.length - answer.features.length;
    const nameOf = (group) => (group < edges ? groupName(graph, linksOf[group]) : answer.features[group - edges]);
    this.rows = new Map();
    this.body = make("tbody");
    for (const group of groups) {
      const bar = make("span", { class: `bar${strength[group] < 0 ? " against" : ""}` });
      bar.style.setProperty("--strength", Math.abs(strength[group]).toFixed(3));
      const row = make("tr", { "data-group": group, tabindex: this.rows.size ? -1 : 0 },
        make("td", { class: "rank" }, String(answer.rank[group])),
        make("td", {}, nameOf(group)),
        make("td", { class: "score" }, scoreText(answer.score[group]), bar));
      if (answer.agreement) row.append(make("td", { class: "agreed" }, shareText(answer.share[group])));
      this.rows.set(group, row);
      this.body.append(row);
    }
    this.#listen(onMark, onPick);
  }

  show(kept) {
    for (const [group, row] of this.rows) row.classList.toggle("kept", kept.has(group));
  }

  mark(group, scroll) {
    for (const [other, row] of this.rows) row.classList.toggle("marked", other === group);
    if (group !== null && scroll) scrollWithin(this.rows.get(group));
  }

  #listen(onMark, onPick) {
    const groupAt = (event) => {
      const row = event.target.closest("tr");
      return row ? Number(row.dataset.group) : null;
    };
    this.body.addEventListener("pointerover", (event) => onMark(groupAt(event)));
    this.body.addEventListener("pointerleave", () => onMark(null));
    this.body.addEventListener("focusin", (event) => onMark(groupAt(event)));
    this.body.addEventListener("focusout", () => onMark(null));
    this.body.addEventListener("click", (event) => onPick(groupAt(event)));
    this.body.addEventListener("keydown", (event) => this.#key(event, onPick, groupAt));
  }

  #key(event, onPick, groupAt) {
    const row = event.target.closest("tr");
    const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
    if (event.key === "Enter") onPick(groupAt(event));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") event.preventDefault();
    if (!next) return;
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

function groupName(graph, links) {
  const named = links.slice(0, 3).map((link) => {
    const relation = graph.relation?.[link];
    const joint = relation ? ` ${relation} ` : graph.arrow?.[link] ? " → " : "–";
    return graph.name[graph.from[link]] + joint + graph.name[graph.to[link]];
  });
  return named.join(", ") + (links.length > 3 ? ` and ${links.length - 3} more` : "");
}

function shareText(share) {
  return `${Math.round(100 * share)} %`;
}

function scoreText(score) {
  if (score === null) return "–";
  const size = Math.abs(score);
  const text = size >= 0.01 && size < 1000 ? score.toFixed(size < 10 ? 2 : 1) : size === 0 ? "0" : score.toExponential(1);
  return text.replace("-", "−").replace("e-", "e−");
}

// scrollIntoView would move the page as well.
function scrollWithin(row) {
  const box = row.closest(".scroll");
  if (!box) return;
  const [top, bottom] = [row.offsetTop - 34, row.offsetTop + row.offsetHeight];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}
