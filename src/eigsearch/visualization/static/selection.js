// The selection of a gallery: which items are shown, in which order.

const EVERYTHING = { target: "", correct: "", minSize: "", maxSize: "", minGain: "", maxGain: "", motif: null };

// What a gallery filters and sorts by, worked out once for each item.
function facetsOf(item, number) {
  const { plus, minus } = item.found;
  const known = plus.length && plus[0] !== null && minus[0] !== null;
  return {
    number,
    target: item.target,
    value: item.value,
    size: item.size,
    gain: known ? plus[0] - minus[0] : null,
    correct: item.truth === null || item.regression ? null : item.truth === item.prediction,
  };
}

function select(facets, filter, sort, ascending) {
  const chosen = facets.filter((facet) => matches(facet, filter));
  const sign = ascending ? 1 : -1;
  const key = (facet) => (facet[sort] === null ? -Infinity : Number(facet[sort]));
  return chosen.sort((a, b) => sign * (key(a) - key(b)) || a.number - b.number);
}

function matches(facet, filter) {
  const least = (value, bound) => bound === "" || (value !== null && value >= Number(bound) - 1e-9);
  const most = (value, bound) => bound === "" || (value !== null && value <= Number(bound) + 1e-9);
  return (
    (filter.target === "" || facet.target === Number(filter.target)) &&
    (filter.correct === "" || facet.correct === (filter.correct === "right")) &&
    least(facet.size, filter.minSize) && most(facet.size, filter.maxSize) &&
    least(facet.gain, filter.minGain) && most(facet.gain, filter.maxGain) &&
    (filter.motif === null || filter.motif.has(facet.number))
  );
}
