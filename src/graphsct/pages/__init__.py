"""HTML pages of a single file each: nothing is fetched, and every value is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from graphsct.extras import require

__all__ = ["render"]


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder, usually one that extends ``base.html``.

    With ``plots=True`` the page contains Plotly, which draws the figures passed to the macro
    ``plot`` of ``plot.html`` as Plotly's JSON, with ``data`` and ``layout``.

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
    """Plotly's JavaScript, which is too large for pages without a plot."""
    require("plotly", "report")
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
