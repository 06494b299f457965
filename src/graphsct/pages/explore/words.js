// Short sentences about the pictures.

const activationName = (slope) => (slope === 0 ? "ReLU" : slope === 1 ? "none" : "leaky ReLU");

function activationSentence(slope) {
  if (slope === 0) return "ReLU: numbers below zero become zero.";
  if (slope === 1) return "No activation: nothing changes.";
  return `Leaky ReLU: numbers below zero are multiplied by ${brief(slope)}.`;
}

function seenSentences({ graph, slope }, y, h) {
  const below = y.filter((value) => value < 0).length;
  const sentences = [`Below zero after the shift: ${below} of ${y.length} nodes.`];
  if (norm(h) === 0) {
    sentences.push("The output is zero at every node; its s is 1 by definition only.");
    return sentences;
  }
  const [long, longOut] = [y, h].map((x) => distanceToEigenspace(graph, x));
  const [s, sOut] = [y, h].map((x) => normalizedSmoothness(graph, x));
  sentences.push(
    `The rough part had length ${show(long)} and now has ${show(longOut)}. ` +
      "No shift and no slope from 0 to 1 makes it longer.",
    `In proportion to its length the output is ${compare(sOut, s)} its input: ` +
      `s was ${show(s)} and is now ${show(sOut)}.`,
  );
  if (slope === 1) {
    sentences.push("Without an activation the shift changes s, but the gaps stay the same.");
  }
  return sentences;
}

function compare(s, other) {
  if (Math.abs(s - other) < 0.005) return "as smooth as";
  return s > other ? "smoother than" : "less smooth than";
}

function curveSentence({ graph, component }, h, { lower, upperAttained }) {
  const part = numComponents(graph) > 1 ? ` of component ${component + 1}` : "";
  const zero = members(graph, component).every((i) => h[i] === 0);
  const s = componentSmoothness(graph, h, component);
  const now = zero ? `Now s${part} is 1 because it is zero.` : `Now s${part} is ${show(s)}.`;
  if (lower === 1) return `${now} The input is smooth, so the output is smooth for every shift.`;
  if (!upperAttained) return `${now} Shifts reach every s from 0 to just below 1.`;
  return `${now} Shifts reach every s from ${show(lower)} to 1, and 1 only by a zero output.`;
}

function sphereSentence({ graph }, h, { radius, smooth }) {
  if (smooth) return "The input has no rough part, so the output has none: the sphere is a point.";
  const sentences = [
    `The shift changes only the radius, now ${show(radius)}; the centre stays in place.`,
    `The output is ${show(distanceToEigenspace(graph, h))} from M.`,
    "No point of the largest sphere is farther from M than z.",
  ];
  if (graph.degree.length === 2) {
    sentences.push("Two nodes have one rough direction: only the sphere's ends on the line count.");
  }
  return sentences.join(" ");
}

function cautionSentence(graph, h, raised, cut) {
  const constant = h.map(() => 1);
  const [s, sNow, sEnd] = [h, raised, constant].map((x) => normalizedSmoothness(graph, x));
  const [away, awayNow] = [h, raised].map((x) => distanceToEigenspace(graph, x));
  return [
    `s was ${show(s)} and is now ${show(sNow)}; far away it is ${show(sEnd)}, that of a constant.`,
    `The distance to M was ${show(away)} and is now ${show(awayNow)}.`,
    cut
      ? "The dots keep their distances: a threshold that moves with them separates the same nodes."
      : "All dots coincide: no threshold separates them, before or after.",
  ].join(" ");
}

function trajectorySentences({ layers, eigenvector: e }, alpha, paths) {
  const push = `The shift pushes every point ${alpha > 0 ? "up" : "down"} along M.`;
  const dead = paths.filter(isDead).length;
  const sentences = [
    alpha === 0 ? "This is a plain GCN." : push,
    `${dead} of ${paths.length} are dead after ${layers} layers. A larger α never kills more.`,
  ];
  const ends = paths.filter((points) => !isDead(points)).map((points) => points.at(-1));
  if (ends.length) {
    const away = Math.max(...ends.map(([first, second]) => Math.abs(first * e[1] - second * e[0])));
    const length = Math.min(...ends.map(norm));
    sentences.push(
      `The others end at most ${show(away, 3)} from M and at least ${show(length)} from zero.`,
    );
  }
  return sentences;
}
