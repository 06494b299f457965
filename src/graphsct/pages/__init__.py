"""Pages that are one file each: all is inside, nothing is fetched, every value is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from graphsct.extras import require

__all__ = ["render"]


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder, as a rule one that extends ``base.html``.

    A template that sets ``plots`` in its base gets Plotly, and draws what it gives the macro
    ``plot`` of ``plot.html``: a figure as Plotly writes it down, with ``data`` and ``layout``.

    Example:
        >>> "a &lt; b" in render("base.html", title="a < b")
        True
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("graphsct", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["plotly"] = _plotly
    return environment


def _plotly() -> Markup:
    """The library itself, which is too large to be read for pages without a plot."""
    require("plotly", "report")
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
