// Figure 2 of the paper: what a shift does over many layers.

const ACROSS = [-1.2, 2];
const UP = [-1.2, 3.2]; // trajectories run on upwards
const PIECES = 4; // of a step, each in one colour
const FULL_COLOUR = 3.5;

function drawTrajectories(svg, figure, paths) {
  const pixels = Math.min((svg.clientWidth - 50) / (ACROSS[1] - ACROSS[0]), 118);
  const wide = pixels * (ACROSS[1] - ACROSS[0]);
  const left = (svg.clientWidth - wide + 34) / 2;
  const tall = pixels * (UP[1] - UP[0]);
  const across = scale(ACROSS, [left, left + wide]);
  const up = scale(UP, [tall, 0]);
  const frame = { x: left, y: 0, width: wide, height: tall };
  const clip = shape("clipPath", { id: "frame" });
  clip.append(shape("rect", frame));
  const inside = shape("g", { "clip-path": "url(#frame)" });
  inside.append(...trails(figure, paths, ([first, second]) => [across(first), up(second)]));
  const upright = `translate(${left - 30} ${tall / 2}) rotate(-90)`;
  fill(svg, tall + 42, [
    clip,
    shape("rect", { class: "frame", ...frame }),
    inside,
    ...ticks(...ACROSS).map((value) => letters(brief(value), across(value), tall + 16, "tick")),
    ...ticks(...UP).map((value) => letters(brief(value), left - 8, up(value), "tick left")),
    letters("node 1", left + wide / 2, tall + 36, "axis"),
    shape("text", { class: "axis", transform: upright }, "node 2"),
  ]);
}

// Axes, paths, the eigenspace, dots, starts, and a cross if some are dead.
function trails({ eigenvector }, paths, place) {
  const seen = ([, second]) => second <= UP[1];
  const pieces = paths.flatMap(steps).filter(([from]) => seen(from));
  const dots = paths.flatMap((points) => points.slice(1)).filter(seen);
  const [x, y] = place([0, 0]);
  const cross = shape("path", { class: "cross", d: `M${x - 6} ${y - 6}l12 12m0 -12l-12 12` });
  return [
    line("zero", place([ACROSS[0], 0]), place([ACROSS[1], 0])),
    line("zero", place([0, UP[0]]), place([0, UP[1]])),
    ...pieces.map(([from, to]) => coloured(line("piece", place(from), place(to)), from)),
    line("eigenspace", ...[-4, 4].map((far) => place(eigenvector.map((value) => far * value)))),
    ...dots.map((point) => coloured(circle("step", 2.8, place(point)), point)),
    ...paths.map(([start]) => circle("start", 5, place(start))),
    ...(paths.some(isDead) ? [cross] : []),
  ];
}

const isDead = (points) => norm(points.at(-1)) === 0;

// Steps cut into pieces, without those that go nowhere.
function steps(points) {
  return points.slice(1).flatMap((to, i) => {
    const from = points[i];
    if (from[0] === to[0] && from[1] === to[1]) return [];
    const at = (share) => from.map((value, j) => value + share * (to[j] - value));
    return Array.from({ length: PIECES }, (_, k) => [at(k / PIECES), at((k + 1) / PIECES)]);
  });
}

function coloured(element, point) {
  const share = 100 * Math.min(1, norm(point) / FULL_COLOUR);
  element.style.setProperty("--share", `${share.toFixed(0)}%`);
  return element;
}
