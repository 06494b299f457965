// The reader's choices, and what follows from them.

const { graphs, figure } = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const state = { slope: 0, constant: 2, control: 0 }; // and graph, z, alpha and component

// A shift that makes every z of the component zero under ReLU, and a little more.
function shiftLimit(graph, k) {
  const degree = members(graph, k).map((i) => graph.degree[i]);
  const most = (LIMIT * Math.sqrt(sum(degree))) / Math.sqrt(Math.min(...degree));
  return Math.ceil(2 * 1.05 * most) / 2;
}

function chooseGraph(index) {
  const graph = graphs[index];
  Object.assign(state, { graph, z: [...graph.z], component: 0 });
  state.alpha = new Array(numComponents(graph)).fill(0);
  makeHandles(find("z-stems"), graph, zScales, (i, value) => {
    state.z[i] = value;
    draw();
  });
  offerComponents();
  chooseComponent(0);
}

function offerComponents() {
  const { graph } = state;
  find("components").hidden = numComponents(graph) === 1;
  find("wanted-where").hidden = numComponents(graph) === 1;
  const choices = state.alpha.map((_, k) => {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), {
      type: "radio",
      name: "component",
      value: k,
      checked: k === 0,
    });
    const nodes = members(graph, k).map((i) => i + 1);
    label.append(input, ` e${"₁₂₃₄₅₆₇₈₉"[k]} of nodes ${nodes.join(", ")}`);
    return label;
  });
  find("components").querySelector(".buttons").replaceChildren(...choices);
}

function chooseComponent(k) {
  state.component = k;
  const limit = shiftLimit(state.graph, k);
  Object.assign(find("alpha"), { min: -limit, max: limit });
  draw();
}

const fillings = {
  random: () => state.z.map(() => Math.round(60 * Math.random() - 30) / 20),
  smooth: () => unpool(state.graph, state.alpha.map(() => 1.5)),
  single: () => state.z.map((_, i) => (i === 0 ? 1.5 : 0)),
};

// One scale for the three pictures of a feature, which dragging z leaves alone.
const largest = () => LIMIT + Math.max(...unpool(state.graph, state.alpha).map(Math.abs));
const zScales = () => stemScales(find("z-stems"), state.graph, largest());

// A window may be too narrow for a picture; the observer draws once it is wide enough.
const unseen = () => find("curve").clientWidth < 100;

function draw() {
  if (unseen()) return;
  const { graph, z, alpha, component, slope } = state;
  const y = shift(graph, z, alpha);
  const h = activate(y, slope);
  for (const [name, x] of Object.entries({ z, y, h })) drawFeature(name, x);
  placeHandles(find("z-stems"), z, zScales());
  drawSliders(h);
  const limit = shiftLimit(graph, component);
  const range = drawCurve(find("curve"), state, limit);
  const found = drawSphere(find("sphere"), state, limit);
  find("whole-legend").hidden = numComponents(graph) === 1;
  say(find("seen"), seenSentences(state, y, h));
  find("curve-says").textContent = curveSentence(state, h, range);
  find("sphere-says").textContent = sphereSentence(state, h, found);
  drawCaution(h);
}

function drawFeature(name, x) {
  const { graph } = state;
  drawNet(find(`${name}-net`), graph, x);
  drawStems(find(`${name}-stems`), graph, x, largest());
  const smooth = project(graph, x);
  const values = x.map((value, i) => `node ${i + 1} ${show(value)}, smooth ${show(smooth[i])}`);
  find(`${name}-stems`).setAttribute("aria-label", values.join("; "));
  find(`${name}-s`).textContent = show(normalizedSmoothness(graph, x));
  find(`${name}-distance`).textContent = show(distanceToEigenspace(graph, x));
  find(`${name}-energy`).textContent = show(dirichletEnergy(graph, x));
}

function drawSliders(h) {
  const { graph, alpha, component, slope } = state;
  find("alpha").value = alpha[component];
  find("alpha-value").textContent = show(alpha[component]);
  const own = componentSmoothness(graph, h, component);
  find("wanted").value = own;
  find("wanted-value").textContent = show(own);
  find("slope-value").textContent = `${brief(slope)}: ${activationName(slope)}`;
  find("now-s").textContent = show(normalizedSmoothness(graph, h));
  find("sigma").textContent = activationSentence(slope);
}

function drawCaution(h) {
  const { graph, constant } = state;
  const raised = h.map((value) => value + constant);
  const cut = drawLine(find("line"), h, constant);
  find("constant-value").textContent = show(constant, 1);
  find("line-says").textContent = cautionSentence(graph, h, raised, cut);
}

function drawControl() {
  if (unseen()) return;
  const paths = trajectories(figure, state.control);
  drawTrajectories(find("trajectory"), figure, paths);
  find("control").value = state.control;
  find("control-value").textContent = show(state.control);
  say(find("trajectory-says"), trajectorySentences(figure, state.control, paths));
}

// Calls `use` with the value of a control whenever it changes.
function listen(id, use) {
  find(id).addEventListener("input", (event) => use(Number(event.target.value)));
}

function setAlpha(value) {
  state.alpha[state.component] = value;
  draw();
}

// The shift that gives the wanted smoothness.
function setWanted(value) {
  const { graph, z, slope, component } = state;
  const limit = shiftLimit(graph, component);
  setAlpha(solveAlpha(graph, z, slope, component, value, limit));
}

// The curve is a second slider for the shift, for those who have a pointer.
function followPointer(svg) {
  const follow = (event) => {
    const limit = shiftLimit(state.graph, state.component);
    const x = event.clientX - svg.getBoundingClientRect().left;
    const wanted = scale(curveSpan(svg), [-limit, limit])(x);
    setAlpha(clamp(Math.round(20 * wanted) / 20, -limit, limit));
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    follow(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) follow(event);
  });
}

function start() {
  document.querySelectorAll(".tile").forEach((tile, i) => {
    drawIcon(tile.querySelector("svg"), graphs[i]);
    tile.addEventListener("change", () => chooseGraph(i));
  });
  document.querySelectorAll("[data-fill]").forEach((button) =>
    button.addEventListener("click", () => {
      state.z = fillings[button.dataset.fill]();
      draw();
    }),
  );
  document.querySelectorAll("[data-control]").forEach((button) =>
    button.addEventListener("click", () => {
      state.control = Number(button.dataset.control);
      drawControl();
    }),
  );
  listen("components", chooseComponent);
  listen("alpha", setAlpha);
  listen("wanted", setWanted);
  listen("slope", (value) => {
    state.slope = value;
    draw();
  });
  listen("constant", (value) => {
    state.constant = value;
    draw();
  });
  listen("control", (value) => {
    state.control = value;
    drawControl();
  });
  followPointer(find("curve"));
  chooseGraph(Number(document.querySelector("[name=graph]:checked").value));
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width) return;
    width = contentRect.width;
    draw();
    drawControl();
  }).observe(find("main"));
}

// For the reader who would like to compute with it.
globalThis.explore = {
  graphs,
  figure,
  state,
  pool,
  project,
  propagate,
  activate,
  shift,
  distanceToEigenspace,
  dirichletEnergy,
  normalizedSmoothness,
  componentSmoothness,
  sphere,
  smoothnessRange,
  solveAlpha,
  trajectories,
};

start();
