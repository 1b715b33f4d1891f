// A page with one explanation.

const { items, ...shared } = readData();
const view = new ExplanationView(items[0], shared);
document.querySelector("main").append(view.root);
shareSize(view);

// Inside of a notebook's widget, the size belongs to both sides.
function shareSize(view) {
  if (parent === window) return;
  view.root.addEventListener("size", (event) => parent.postMessage({ eigsearch: { size: event.detail } }, "*"));
  addEventListener("message", (event) => {
    const size = event.data?.eigsearch?.size;
    if (event.source !== parent || !Number.isInteger(size) || size === view.size) return;
    if (size === items[0].size) view.showChosen();
    else if (view.sizes.includes(size)) view.showSize(size);
  });
}
document.documentElement.dataset.ready = "true";
