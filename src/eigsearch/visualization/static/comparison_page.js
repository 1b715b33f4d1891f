// A page with one comparison.

new Comparison(document, readData());
document.documentElement.dataset.ready = "true";
