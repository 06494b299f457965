// What the page computes, for one feature: functions by their names in graphsct.
// A graph has edges, and for every node its degree, its component and its basis, the one non-zero
// in its row of Q.

const sum = (values) => values.reduce((total, value) => total + value, 0);
const dot = (a, b) => sum(a.map((value, i) => value * b[i]));
const norm = (a) => Math.hypot(...a);
const minus = (a, b) => a.map((value, i) => value - b[i]);

const numComponents = (graph) => 1 + Math.max(...graph.component);
const members = (graph, k) => [...graph.component.keys()].filter((i) => graph.component[i] === k);

function pool(graph, x) {
  const coordinates = new Array(numComponents(graph)).fill(0);
  x.forEach((value, i) => (coordinates[graph.component[i]] += graph.basis[i] * value));
  return coordinates;
}

const unpool = (graph, a) => graph.basis.map((value, i) => value * a[graph.component[i]]);
const project = (graph, x) => unpool(graph, pool(graph, x));
const roughPart = (graph, x) => minus(x, project(graph, x));

function propagate(graph, x) {
  const scaled = x.map((value, i) => value / Math.sqrt(graph.degree[i]));
  const total = [...scaled]; // a node is its own neighbour
  for (const [i, j] of graph.edges) {
    total[i] += scaled[j];
    total[j] += scaled[i];
  }
  return total.map((value, i) => value / Math.sqrt(graph.degree[i]));
}

const distanceToEigenspace = (graph, x) => norm(roughPart(graph, x));

function dirichletEnergy(graph, x) {
  const rough = roughPart(graph, x);
  return Math.max(0, dot(rough, rough) - dot(rough, propagate(graph, rough)));
}

function normalizedSmoothness(graph, x) {
  const length = norm(x);
  return length === 0 ? 1 : Math.min(1, norm(pool(graph, x)) / length);
}

// The normalized smoothness of one component alone.
function componentSmoothness(graph, x, k) {
  return normalizedSmoothness(graph, x.map((value, i) => (graph.component[i] === k ? value : 0)));
}

// ReLU if the slope is 0, the identity if it is 1.
const activate = (x, slope) => x.map((value) => (value > 0 ? value : slope * value + 0)); // no -0

const shift = (graph, z, alpha) => minus(z, unpool(graph, alpha));

function sphere(graph, z, slope) {
  const rough = roughPart(graph, z);
  const center = rough.map((value) => ((1 + slope) / 2) * value);
  const product = dot(
    pool(graph, z.map((value) => Math.max(value, 0))),
    pool(graph, z.map((value) => Math.max(-value, 0))),
  );
  const ball = sum(rough.map((value) => (((1 - slope) / 2) * value) ** 2));
  const radius = Math.sqrt(Math.max(0, ball - (1 - slope) ** 2 * product));
  const output = roughPart(graph, activate(z, slope));
  return { center, radius, residual: Math.abs(norm(minus(output, center)) - radius) };
}

// One component in the units of the proofs: x = D^-1/2 z, from which a shift subtracts alpha / c.
function standardize(graph, z, k) {
  const rounding = 4 * Number.EPSILON;
  const nodes = members(graph, k);
  const degree = nodes.map((i) => graph.degree[i]);
  const x = nodes.map((i) => z[i] / Math.sqrt(graph.degree[i]));
  const volume = sum(degree);
  const mean = dot(degree, x) / volume;
  const deviation = Math.sqrt(dot(degree, x.map((value) => (value - mean) ** 2)) / volume);
  const maximum = Math.max(...x);
  const edge = maximum - rounding * Math.abs(maximum);
  return {
    breaks: x.map((value) => Math.sqrt(volume) * value), // the shifts that make a node zero
    constant: deviation <= rounding * Math.abs(mean),
    shareAtMaximum: sum(degree.filter((_, i) => x[i] >= edge)) / volume,
  };
}

function smoothnessRange(graph, z, slope, k) {
  const { constant, shareAtMaximum } = standardize(graph, z, k);
  return {
    lower: constant ? 1 : slope === 0 ? Math.sqrt(shareAtMaximum) : 0,
    upper: 1,
    lowerAttained: true,
    upperAttained: constant || slope === 0,
  };
}

// The shift of component k that gives its output the wanted smoothness, or the nearest in reach of
// shifts up to the limit. Bisection, since <h, e> / |h| falls with the shift; -1 for a zero output.
function solveAlpha(graph, z, slope, k, wanted, limit) {
  const signed = (a) => {
    const alpha = new Array(numComponents(graph)).fill(0).with(k, a);
    const h = activate(shift(graph, z, alpha), slope);
    const length = norm(members(graph, k).map((i) => h[i]));
    return length === 0 ? -1 : pool(graph, h)[k] / length;
  };
  let [low, high] = [-limit, limit];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (signed(middle) >= wanted) low = middle;
    else high = middle;
  }
  return low;
}

// Shifts of component k at which curves are drawn: a grid, and wherever they bend or are zero.
function shifts(graph, z, alpha, k, slope, limit) {
  const smooth = (a) => pool(graph, activate(shift(graph, z, alpha.with(k, a)), slope))[k];
  const { breaks, constant } = standardize(graph, z, k);
  const bends = breaks.filter((a) => !constant && Math.abs(a) < limit);
  const grid = Array.from({ length: 161 }, (_, i) => limit * (i / 80 - 1));
  const places = [...grid, ...bends].sort((a, b) => a - b);
  const zeros = places.slice(1).flatMap((right, i) => {
    const [left, f, g] = [places[i], smooth(places[i]), smooth(right)];
    return f * g < 0 ? [left + ((right - left) * f) / (f - g)] : []; // linear between bends
  });
  return [...places, ...zeros].sort((a, b) => a - b);
}

// The points of all trajectories, by start and layer: h <- ReLU(w h G + alpha e).
function trajectories({ operator, weight, eigenvector, starts, layers }, alpha) {
  const mixed = (h, j) => h[0] * operator[0][j] + h[1] * operator[1][j];
  const layer = (h) => activate(eigenvector.map((e, j) => weight * mixed(h, j) + alpha * e), 0);
  return starts.map((start) => {
    const points = [start];
    while (points.length <= layers) points.push(layer(points.at(-1)));
    return points;
  });
}
