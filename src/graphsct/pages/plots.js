// Draws every figure of the page in its colours, again when these change, and saves it as a picture.
(() => {
  const theme = (element) => {
    const style = getComputedStyle(element);
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
        font: { color: colour("text"), family: getComputedStyle(document.body).fontFamily, size: 13 },
        hoverlabel: { bgcolor: colour("card"), font: { color: colour("text") } },
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

  // A picture is for a slide or a paper: wide, with its title, dark on white whatever the page is.
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
      margin: { l: 16, r: 16, t: 90, b: 16 },
    };
    const file = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const size = { width: 900, height: layout.height + 100, scale: 2 };
    return Plotly.downloadImage({ data, layout: picture }, { format: "png", filename: file, ...size });
  };

  draw();
  document.querySelectorAll("[data-save]").forEach((button) =>
    button.addEventListener("click", () => save(button)),
  );
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
