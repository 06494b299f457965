"""One look for all figures: palette, heat maps, curves and saving, in Matplotlib and in Plotly."""
