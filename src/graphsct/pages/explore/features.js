// Features as coloured nodes and as stems, before and after the activation.

const LIMIT = 2; // of z
const NET_HEIGHT = 150;
const STEMS_HEIGHT = 230;

const sign = (value) => (value < 0 ? "negative" : value > 0 ? "positive" : "nought");

// A graph around a point; `across` and `down` are pixels per unit.
function net(graph, [x, y], across, down) {
  const places = graph.places.map(([right, below]) => [x + across * right, y + down * below]);
  const edges = graph.edges.map(([i, j]) => line("edge", places[i], places[j]));
  return { places, edges };
}

// The colour of a node is pale near zero and full at the limit.
function drawNet(svg, graph, x) {
  const { places, edges } = net(graph, [svg.clientWidth / 2, NET_HEIGHT / 2], 92, 56);
  const nodes = places.flatMap((place, i) => {
    const colour = circle(sign(x[i]), 11, place);
    colour.setAttribute("fill-opacity", 0.4 * Math.min(1, Math.abs(x[i]) / LIMIT));
    return [circle("node", 11, place), colour, letters(i + 1, ...place)];
  });
  fill(svg, NET_HEIGHT, [...edges, ...nodes]);
}

function drawIcon(svg, graph) {
  const { places, edges } = net(graph, [32, 22], 26, 17);
  const nodes = places.map((place) => circle("node", 4, place));
  svg.setAttribute("viewBox", "0 0 64 44");
  svg.replaceChildren(...edges, ...nodes);
}

// Where stems stand; `reach` is the largest number that has to fit.
function stemScales(svg, graph, reach) {
  const n = graph.degree.length;
  const step = Math.min(56, (svg.clientWidth - 30) / n);
  const left = 30 + (svg.clientWidth - 30 - step * n) / 2;
  return {
    across: (i) => left + step * (i + 0.5),
    up: scale([-reach, reach], [STEMS_HEIGHT - 28, 10]),
    half: Math.min(14, 0.4 * step),
  };
}

function drawStems(svg, graph, x, reach) {
  const { across, up, half } = stemScales(svg, graph, reach);
  const smooth = project(graph, x);
  const marks = [-LIMIT, 0, LIMIT];
  fill(svg, STEMS_HEIGHT, [
    ...marks.map((y) => line(y ? "grid" : "zero", [28, up(y)], [svg.clientWidth, up(y)])),
    ...marks.map((y) => letters(brief(y), 22, up(y), "tick left")),
    ...x.flatMap((value, i) => [
      line(`stem ${sign(value)}`, [across(i), up(0)], [across(i), up(value)]),
      line("dash", [across(i) - half, up(smooth[i])], [across(i) + half, up(smooth[i])]),
      circle(`dot ${sign(value)}`, 6, [across(i), up(value)]),
      letters(i + 1, across(i), STEMS_HEIGHT - 8),
    ]),
  ]);
}

// Dots of z that can be dragged, and moved by keys. `scales` says where they are, `move` gets a
// node and its new value.
function makeHandles(svg, graph, scales, move) {
  const set = (i, wanted) => move(i, clamp(Math.round(20 * wanted) / 20, -LIMIT, LIMIT));
  const handles = graph.z.map((_, i) => {
    const handle = shape("g", {
      class: "handle",
      role: "slider",
      tabindex: 0,
      "aria-label": `z at node ${i + 1}`,
      "aria-orientation": "vertical",
      "aria-valuemin": -LIMIT,
      "aria-valuemax": LIMIT,
    });
    handle.append(shape("circle", { class: "grip", r: 15 }), shape("circle", { r: 8 }));
    handle.addEventListener("keydown", (event) => {
      const wanted = afterKey(event.key, Number(handle.getAttribute("aria-valuenow")));
      if (wanted === undefined) return;
      event.preventDefault();
      set(i, wanted);
    });
    handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const [top, bottom] = [LIMIT, -LIMIT].map(scales().up);
      const y = event.clientY - svg.getBoundingClientRect().top;
      set(i, scale([top, bottom], [LIMIT, -LIMIT])(y));
    });
    return handle;
  });
  svg.querySelectorAll(".handle").forEach((old) => old.remove());
  svg.append(...handles);
}

function afterKey(key, value) {
  if (key === "Home") return -LIMIT;
  if (key === "End") return LIMIT;
  if (key === "ArrowUp" || key === "ArrowRight") return value + 0.1;
  if (key === "ArrowDown" || key === "ArrowLeft") return value - 0.1;
  if (key === "PageUp") return value + 0.5;
  if (key === "PageDown") return value - 0.5;
  return undefined;
}

function placeHandles(svg, z, { across, up }) {
  svg.querySelectorAll(".handle").forEach((handle, i) => {
    handle.setAttribute("transform", `translate(${across(i)} ${up(z[i])})`);
    handle.setAttribute("aria-valuenow", z[i].toFixed(2));
    handle.lastChild.setAttribute("class", `dot ${sign(z[i])}`);
  });
}
