// Draws every figure of the page in its colours, again when these change.
(() => {
  const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  const theme = () => {
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

  const draw = () =>
    document.querySelectorAll("script[data-plot]").forEach((source) => {
      const { data, layout } = JSON.parse(source.textContent);
      const place = document.getElementById(source.dataset.plot);
      Plotly.react(place, data, { ...layout, template: theme() }, {
        displaylogo: false,
        displayModeBar: false,
        responsive: true,
      });
    });

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
