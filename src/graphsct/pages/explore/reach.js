// What all shifts together can do: the curve of s, the sphere, and the caution about s.

const CURVE_HEIGHT = 320;

const curveSpan = (svg) => [38, svg.clientWidth - 12];

function drawCurve(svg, { graph, z, alpha, component: k, slope }, limit) {
  const across = scale([-limit, limit], curveSpan(svg));
  const up = scale([0, 1], [CURVE_HEIGHT - 42, 16]);
  const range = smoothnessRange(graph, z, slope, k);
  const at = (a) => {
    const y = shift(graph, z, alpha.with(k, a));
    const h = activate(y, slope);
    return {
      own: [across(a), up(componentSmoothness(graph, h, k))],
      whole: [across(a), up(normalizedSmoothness(graph, h))],
      input: [across(a), up(componentSmoothness(graph, y, k))],
    };
  };
  const dies = slope === 0 ? Math.max(...standardize(graph, z, k).breaks) : Infinity;
  const places = shifts(graph, z, alpha, k, slope, limit);
  const alive = places.filter((a) => a < dies).map(at);
  const dead = places.filter((a) => a > dies).map(at);
  // If all other components are zero, the whole is this one.
  const output = activate(shift(graph, z, alpha), slope);
  const several = output.some((value, i) => value !== 0 && graph.component[i] !== k);
  const band = { x: across(-limit), width: across(limit) - across(-limit) };
  const shapes = [
    shape("rect", { class: "band", ...band, y: up(1), height: up(range.lower) - up(1) }),
    ...[0, 0.5, 1].map((s) => line("grid", [across(-limit), up(s)], [across(limit), up(s)])),
    ...[0, 0.5, 1].map((s) => letters(brief(s), 30, up(s), "tick left")),
    ...ticks(-limit, limit).map((a) => letters(brief(a), across(a), CURVE_HEIGHT - 28, "tick")),
    letters("shift α", across(0), CURVE_HEIGHT - 8, "axis"),
    letters("s", 14, up(0.75), "axis"),
    curve("input", [...alive, ...dead].map((point) => point.input)),
    curve("thin", several ? [...alive, ...dead].map((point) => point.whole) : []),
    curve("dead", dead.map((point) => point.own)),
    curve("", alive.map((point) => point.own)),
  ];
  if (dead.length && range.lower < 1) {
    // There s jumps, from the least that is in reach to 1.
    const [x, low, high] = [across(dies), up(range.lower), up(1)];
    shapes.push(
      curve("", [alive.at(-1).own, [x, low]]),
      shape("circle", { class: "end open", cx: x, cy: low, r: 4.5 }),
      shape("circle", { class: "end", cx: x, cy: high, r: 4.5 }),
    );
  }
  const [x, y] = at(alpha[k]).own;
  shapes.push(
    line("drop", [x, y], [x, up(0)]),
    shape("circle", { class: "now-dot", cx: x, cy: y, r: 7.5 }),
  );
  fill(svg, CURVE_HEIGHT, shapes);
  return range;
}

const curve = (kind, points) =>
  shape("path", { class: `line ${kind}`, d: points.length ? path(points) : "" });

// The plane through M, the rough part of z and that of h: there the sphere is a circle.
function drawSphere(svg, { graph, z, alpha, component: k, slope }, limit) {
  const rough = roughPart(graph, z);
  const length = norm(rough);
  const smooth = length <= 1e-12 * norm(z);
  const size = smooth ? 1 : length;
  const height = Math.min(CURVE_HEIGHT, 0.9 * svg.clientWidth);
  const pixels = Math.min((svg.clientWidth - 90) / size, (height - 40) / size);
  const [left, middle] = [(svg.clientWidth - size * pixels) / 2, height / 2];
  const place = ([along, off]) => [left + along * pixels, middle - off * pixels];
  const inPlane = (a) => {
    const h = roughPart(graph, activate(shift(graph, z, alpha.with(k, a)), slope));
    const along = smooth ? 0 : dot(h, rough) / length;
    return [along, Math.sqrt(Math.max(0, dot(h, h) - along ** 2))];
  };
  const found = sphere(graph, shift(graph, z, alpha), slope);
  const center = place([smooth ? 0 : ((1 + slope) / 2) * length, 0]);
  const ring = (kind, radius) =>
    shape("circle", { class: `ring ${kind}`, cx: center[0], cy: center[1], r: radius * pixels });
  const [origin, input] = [place([0, 0]), place([smooth ? 0 : length, 0])];
  const now = place(inPlane(alpha[k]));
  fill(svg, height, [
    line("zero", [origin[0] - 30, middle], [place([size, 0])[0] + 30, middle]),
    ring("largest", ((1 - slope) / 2) * length),
    ring("", found.radius),
    curve("trace", shifts(graph, z, alpha, k, slope, limit).map((a) => place(inPlane(a)))),
    line("arm", origin, now),
    shape("path", { class: "plus", d: `M${center[0] - 4} ${middle}h8m-4 -4v8` }),
    shape("circle", { class: "origin", cx: origin[0], cy: origin[1], r: 5 }),
    letters("M", origin[0] - 12, middle + 17, "axis origin-name"),
    shape("circle", { class: "end open", cx: input[0], cy: input[1], r: 5 }),
    ...(smooth ? [] : [letters("z", input[0] + 14, middle + 17, "axis")]),
    letters("centre", center[0], middle + 19, "tick"),
    shape("circle", { class: "now-dot", cx: now[0], cy: now[1], r: 7.5 }),
  ]);
  return { ...found, smooth };
}

// The output plus a constant on a line, where the output itself is a shadow, and a threshold in the
// middle of the widest gap that moves along.
function drawLine(svg, h, constant) {
  const [low, high] = [Math.min(0, ...h), Math.max(0.5, ...h) + 5];
  const across = scale([low, high], [20, svg.clientWidth - 20]);
  const threshold = widestGap(h);
  const levels = stack(h.map(across), 21);
  const base = 22 * Math.max(3, 1 + Math.max(...levels)) + 14;
  const bead = (kind, i, cx) =>
    shape("circle", { class: `bead ${kind}`, cx, cy: base - 14 - 22 * levels[i], r: 10 });
  const beads = h.flatMap((value, i) => {
    const moved = bead(value > threshold ? "right" : "", i, across(value + constant));
    return [moved, letters(i + 1, across(value + constant), base - 14 - 22 * levels[i], "name")];
  });
  const shapes = [
    line("zero", [across(low), base], [across(high), base]),
    ...ticks(low, high).map((mark) => letters(brief(mark), across(mark), base + 18, "tick")),
    ...h.map((value, i) => bead("ghost", i, across(value))),
    ...beads,
  ];
  if (threshold !== undefined) {
    const x = across(threshold + constant);
    shapes.push(line("cut", [x, 4], [x, base]));
  }
  fill(svg, base + 30, shapes);
  return threshold !== undefined;
}

// The level at which each bead finds room, if beads are so wide.
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
