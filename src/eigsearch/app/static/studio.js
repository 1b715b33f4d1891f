// The studio: the table of all predictions, or the workbench of one, as the address says.

const info = readData();
const triage = new Triage(info);
const workbench = new Workbench(info, triage);
let scrolled = 0;

async function route() {
  const state = EditState.parse(location.hash);
  const wasOpen = !triage.visible;
  if (state && !wasOpen) scrolled = scrollY;
  document.getElementById("triage").hidden = Boolean(state);
  document.getElementById("workbench").hidden = !state;
  if (state) {
    if (workbench.wanted?.toString() !== state.toString()) await workbench.open(state);
    return;
  }
  workbench.close();
  document.title = `${info.title} · Studio`;
  triage.render();
  if (wasOpen) scrollTo(0, scrolled);
}

addEventListener("hashchange", route);
route().finally(() => (document.documentElement.dataset.ready = "true"));
