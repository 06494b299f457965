// What all shifts together can do: the curve of s, and the sphere.

const CURVE_HEIGHT = 320;

const curveSpan = (svg) => [38, svg.clientWidth - 12];

// By the shift: smoothness of the component, of the whole graph and of the input; and from which
// shift on the component is zero.
function sampleCurve({ graph, z, alpha, component: k, slope }, limit) {
  const at = (a) => {
    const y = shift(graph, z, alpha.with(k, a));
    const h = activate(y, slope);
    return {
      own: [a, componentSmoothness(graph, h, k)],
      whole: [a, normalizedSmoothness(graph, h)],
      input: [a, componentSmoothness(graph, y, k)],
    };
  };
  const dies = slope === 0 ? Math.max(...standardize(graph, z, k).breaks) : Infinity;
  const places = shifts(graph, z, alpha, k, slope, limit);
  return {
    dies,
    now: at(alpha[k]).own,
    alive: places.filter((a) => a < dies).map(at),
    dead: places.filter((a) => a > dies).map(at),
  };
}

function drawCurve(svg, state, limit) {
  const across = scale([-limit, limit], curveSpan(svg));
  const up = scale([0, 1], [CURVE_HEIGHT - 42, 16]);
  const place = ([a, s]) => [across(a), up(s)];
  const curve = (kind, points) => trace(kind, points.map(place));
  const ring = (kind, r, at) => circle(kind, r, place(at));
  const range = smoothnessRange(state.graph, state.z, state.slope, state.component);
  const { dies, now, alive, dead } = sampleCurve(state, limit);
  const all = [...alive, ...dead];
  const least = [dies, range.lower];
  const jumps = dead.length > 0 && range.lower < 1; // from the least that is in reach to 1
  fill(svg, CURVE_HEIGHT, [
    ...curveFrame(limit, across, up, range),
    curve("input", all.map((point) => point.input)),
    curve("thin", othersLive(state) ? all.map((point) => point.whole) : []),
    curve("dead", dead.map((point) => point.own)),
    curve("own", [...alive.map((point) => point.own), ...(jumps ? [least] : [])]),
    ...(jumps ? [ring("end open", 4.5, least), ring("end", 4.5, [dies, 1])] : []),
    line("drop", place(now), place([now[0], 0])),
    ring("now-dot", 7.5, now),
  ]);
  return range;
}

function curveFrame(limit, across, up, { lower }) {
  const [left, right] = [across(-limit), across(limit)];
  const band = { x: left, width: right - left, y: up(1), height: up(lower) - up(1) };
  return [
    shape("rect", { class: "band", ...band }),
    ...[0, 0.5, 1].map((s) => line("grid", [left, up(s)], [right, up(s)])),
    ...[0, 0.5, 1].map((s) => letters(brief(s), left - 8, up(s), "tick left")),
    ...ticks(-limit, limit).map((a) => letters(brief(a), across(a), up(0) + 14, "tick")),
    letters("shift α", across(0), CURVE_HEIGHT - 8, "axis"),
    letters("s", 14, up(0.75), "axis"),
  ];
}

// Whether the output is non-zero in another component; if not, both curves are the same.
function othersLive({ graph, z, alpha, component, slope }) {
  const h = activate(shift(graph, z, alpha), slope);
  return h.some((value, i) => value !== 0 && graph.component[i] !== component);
}

// The plane through M, the rough part of z and that of h: there the sphere is a circle.
function drawSphere(svg, { graph, z, alpha, component: k, slope }, limit) {
  const rough = roughPart(graph, z);
  const smooth = norm(rough) <= 1e-12 * norm(z);
  const length = smooth ? 0 : norm(rough);
  const inPlane = (a) => {
    const h = roughPart(graph, activate(shift(graph, z, alpha.with(k, a)), slope));
    const along = smooth ? 0 : dot(h, rough) / length;
    return [along, Math.sqrt(Math.max(0, dot(h, h) - along ** 2))];
  };
  const height = Math.min(CURVE_HEIGHT, 0.9 * svg.clientWidth);
  const pixels = Math.min(svg.clientWidth - 90, height - 40) / (length || 1);
  const left = (svg.clientWidth - length * pixels) / 2;
  const place = ([along, off]) => [left + along * pixels, height / 2 - off * pixels];
  const found = sphere(graph, shift(graph, z, alpha), slope);
  const [origin, center, input] = [0, (1 + slope) / 2, 1].map((part) => place([part * length, 0]));
  const now = place(inPlane(alpha[k]));
  const below = (text, [x, y], aside, kind) => letters(text, x + aside, y + 18, kind);
  const roomy = center[0] - origin[0] > 50 && input[0] - center[0] > 50;
  fill(svg, height, [
    line("zero", [origin[0] - 30, origin[1]], [input[0] + 30, input[1]]),
    circle("ring largest", ((1 - slope) / 2) * length * pixels, center),
    circle("ring", found.radius * pixels, center),
    trace("trace", shifts(graph, z, alpha, k, slope, limit).map((a) => place(inPlane(a)))),
    line("arm", origin, now),
    shape("path", { class: "plus", d: `M${center[0] - 4} ${center[1]}h8m-4 -4v8` }),
    circle("origin", 5, origin),
    circle("end open", 5, input),
    below("M", origin, -12, "axis origin-name"),
    below("z", input, 14, "axis"),
    below(roomy ? "centre" : "", center, 0, "tick"),
    circle("now-dot", 7.5, now),
  ]);
  return { ...found, smooth };
}
