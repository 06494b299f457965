// The caution about s: a constant moves it, and changes nothing for a classifier.

// Draws the output plus a constant on a line, the output itself as a shadow, and a threshold in the
// middle of the widest gap, which moves along.
function drawLine(svg, h, constant) {
  const [low, high] = [Math.min(0, ...h), Math.max(0.5, ...h) + 5];
  const across = scale([low, high], [20, svg.clientWidth - 20]);
  const threshold = widestGap(h);
  const levels = stack(h.map(across), 21);
  const base = 22 * Math.max(3, 1 + Math.max(...levels)) + 14;
  const place = (value, i) => [across(value), base - 14 - 22 * levels[i]];
  const beads = h.flatMap((value, i) => {
    const now = place(value + constant, i);
    return [circle(value > threshold ? "bead right" : "bead", 10, now), letters(i + 1, ...now)];
  });
  const shapes = [
    line("zero", [across(low), base], [across(high), base]),
    ...ticks(low, high).map((mark) => letters(brief(mark), across(mark), base + 18, "tick")),
    ...h.map((value, i) => circle("bead ghost", 10, place(value, i))),
    ...beads,
  ];
  if (threshold !== undefined) {
    const x = across(threshold + constant);
    shapes.push(line("cut", [x, 4], [x, base]));
  }
  fill(svg, base + 30, shapes);
  return threshold !== undefined;
}

// The level of each bead, such that beads of a given width do not overlap.
function stack(places, wide) {
  const levels = new Array(places.length);
  const ends = []; // by level
  for (const i of [...places.keys()].sort((a, b) => places[a] - places[b])) {
    const free = ends.findIndex((end) => end <= places[i]);
    levels[i] = free < 0 ? ends.length : free;
    ends[levels[i]] = places[i] + wide;
  }
  return levels;
}

// The middle of the widest gap between values, if there is one.
function widestGap(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((value, i) => value - sorted[i]);
  const widest = Math.max(0, ...gaps);
  const i = gaps.indexOf(widest);
  return widest < 1e-9 ? undefined : (sorted[i] + sorted[i + 1]) / 2;
}
