// The part of an item's graph that some of its links make up.
function pieceOf(item, links) {
  const nodes = [...new Set(links.flatMap((link) => [item.from[link], item.to[link]]))];
  const at = (column) => (item[column] ? { [column]: links.map((link) => item[column][link]) } : {});
  return {
    molecule: item.molecule,
    anchors: [],
    x: nodes.map((node) => item.x[node]),
    y: nodes.map((node) => item.y[node]),
    label: nodes.map((node) => (item.molecule ? item.label[node] : "")),
    from: links.map((link) => nodes.indexOf(item.from[link])),
    to: links.map((link) => nodes.indexOf(item.to[link])),
    group: links.map((_, i) => i),
    score: links.map(() => 0),
    ...at("order"), ...at("side"), ...at("bend"), ...at("arrow"),
  };
}
