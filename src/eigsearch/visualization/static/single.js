// A page with one explanation.

const { items, ...shared } = readData();
document.querySelector("main").append(new ExplanationView(items[0], shared).root);
document.documentElement.dataset.ready = "true";
