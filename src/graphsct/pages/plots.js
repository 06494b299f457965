// Draws every figure in the page's colours, redraws it when they change, saves it as a picture.
(() => {
  const theme = (element) => {
    const style = getComputedStyle(element);
    const { fontFamily: family } = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const axis = {
      gridcolor: colour("line"),
      linecolor: colour("line"),
      zerolinecolor: colour("soft"),
      automargin: true,
    };
    return {
      layout: {
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { color: colour("text"), family, size: 13 },
        hoverlabel: { bgcolor: colour("card"), font: { color: colour("text"), family } },
        xaxis: axis,
        yaxis: axis,
        margin: { l: 8, r: 8, t: 40, b: 8 },
      },
    };
  };

  const read = (name) =>
    JSON.parse(document.querySelector(`script[data-plot="${name}"]`).textContent);

  const draw = () =>
    document.querySelectorAll("script[data-plot]").forEach(({ dataset: { plot: name } }) => {
      const { data, layout } = read(name);
      const template = theme(document.documentElement);
      Plotly.react(document.getElementById(name), data, { ...layout, template }, {
        displaylogo: false,
        displayModeBar: false,
        responsive: true,
      });
    });

  // Arrow keys move over a heat map as a pointer does; screen readers get the label of each cell.
  const STEPS = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  const walk = (place) => {
    const said = place.parentElement.appendChild(document.createElement("output"));
    said.className = "unseen";
    place.tabIndex = 0;
    place.setAttribute("role", "application");
    place.firstElementChild.setAttribute("aria-hidden", "true");
    let at = null;
    place.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const [{ x, y }] = place.data;
      const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
      at = at ? [within(at[0] + step[0], y.length), within(at[1] + step[1], x.length)] : [0, 0];
      const [dimension, layer] = [y[at[0]], x[at[1]]];
      Plotly.Fx.unhover(place);
      Plotly.Fx.hover(place, { xval: layer, yval: dimension });
      const lines = [...place.querySelectorAll(".hoverlayer tspan.line")].map((l) => l.textContent);
      said.textContent = lines.join(", ") || `layer ${layer} has no dimension ${dimension}`;
    });
    place.addEventListener("blur", () => Plotly.Fx.unhover(place));
  };

  // A picture is for a slide or a paper: wide, with its title, always dark on white.
  const save = ({ dataset: { save: name, title } }) => {
    const { data, layout } = read(name);
    const paper = document.body.appendChild(document.createElement("div"));
    paper.className = "light";
    const template = theme(paper);
    paper.remove();
    const picture = {
      ...layout,
      template,
      paper_bgcolor: "white",
      title: { text: title.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`), x: 0.02 },
      margin: { l: 40, r: 24, t: 90, b: 48 },
    };
    const file = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const size = { width: 900, height: layout.height + 100, scale: 2 };
    return Plotly.downloadImage({ data, layout: picture }, { format: "png", filename: file, ...size });
  };

  draw();
  document.getElementById("js-plotly-tester").setAttribute("aria-hidden", "true"); // measures text
  document.querySelectorAll(".plot").forEach((place) => {
    if (place.data[0].type === "heatmap") walk(place);
  });
  document.querySelectorAll("[data-save]").forEach((button) =>
    button.addEventListener("click", () => save(button)),
  );
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
