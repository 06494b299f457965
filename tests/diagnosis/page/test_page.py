import copy
import json
import re
from dataclasses import replace
from itertools import pairwise

import faulty
import pytest
import torch
from markupsafe import escape
from matplotlib.image import imread
from selenium.webdriver import Keys

from graphsct import diagnose, fit, nn
from graphsct.diagnosis import try_remedies
from graphsct.diagnosis.page import page
from graphsct.training import ModelConfig, TrainConfig
from graphsct.training.seeding import seeded

SCRIPT = "<script>alert(1)</script>"
NAMED = "<img src=x onerror=alert(2)>"


class Hostile(torch.nn.Module):
    """A model with a dead layer whose names are no names."""

    def __init__(self):
        super().__init__()
        inner = faulty.dead(depth=4)
        self.add_module(NAMED, inner.convs[0])
        self.rest, self.head = inner.convs[1:], inner.head

    def forward(self, x, edge_index):
        for conv in (getattr(self, NAMED), *self.rest):
            x = conv(x, edge_index).relu()
        return self.head(x)


@pytest.fixture(scope="module")
def found(data):
    data = copy.copy(data)
    data.name = SCRIPT
    with seeded(0):
        model = Hostile()
    return diagnose(model, data)


@pytest.fixture(scope="module")
def path(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("diagnosis") / "page.html"
    found.save_html(path)
    return path


@pytest.fixture(scope="module")
def text(path):
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tried(data):
    """A trained model with its history, and with remedies that were measured."""
    config, train = ModelConfig(depth=24, hidden=8, init="glorot"), TrainConfig(epochs=3)
    with seeded(0):
        model = config.build(data)
    run = fit(model, data, train)
    found = replace(diagnose(model, data, reach=False), run=run)
    return try_remedies(found, config, data, train, seeds=[0, 1])


# --- text ---


def test_names_of_the_user_are_escaped(text):
    assert "Hostile on &lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert SCRIPT not in text
    assert NAMED not in text
    assert "&lt;img src=x onerror=alert(2)&gt;" in text


def test_nothing_is_fetched_from_elsewhere(text):
    without_scripts = re.sub(r"<script\b.*?</script>", "", text, flags=re.S)
    assert len(without_scripts) < 60_000
    addresses = re.findall(r'\b(?:src|href|srcset|action)="([^"]*)"', without_scripts)
    assert len(addresses) > 6
    assert all(address.startswith("#") for address in addresses)
    assert set(addresses) <= {f"#{name}" for name in re.findall(r'\bid="([^"]+)"', text)}


def test_the_verdict_comes_first_with_its_evidence_and_remedies(text, found):
    places = [text.index(f'id="{name}"') for name in ("verdict", "remedies", "maps", "layers")]
    assert places == sorted(places)
    verdict = text[places[0] : places[2]]
    for finding in found.findings:
        assert finding.kind.capitalize() in verdict
        assert finding.evidence in verdict
    for advice in found.advice:
        assert advice.why in verdict
        assert escape(advice.change) in verdict
    assert "No remedy was tried on this model" in verdict


def test_what_remedies_brought_stands_beside_them(tried):
    text = page(tried)
    assert "No remedy was tried on this model" not in text
    assert text.count("<b>Measured: ") == len(tried.effects) - 1
    assert "difference, paired" in text
    assert "Remedies tried with 2 seeds, 3 epochs" in text
    for name, reason in tried.untried.items():
        assert f"Not tried: {name}, {reason}" in text
    assert 'id="history-2"' in text
    assert "trained for 3 epochs" in text


def test_a_healthy_model_says_so(data):
    with seeded(0):
        model = nn.GCN(16, 8, 3, 2)
    fit(model, data, TrainConfig(epochs=100))
    text = page(diagnose(model, data))
    assert "The model works" in text
    assert "No over-smoothing found" in text
    assert 'id="remedies"' not in text
    assert "Shaded" not in text
    assert "not trained for this diagnosis" in text


# --- in a browser ---


@pytest.mark.parametrize("width", [390, 1440])
def test_a_browser_shows_all_of_it(path, browser, width):
    browser.open(path, width=width)
    assert browser.messages() == []
    assert browser.fetched() == []
    assert browser.overflow() <= 0
    assert browser.run("document.querySelectorAll('.plot .hm').length") == 2
    empty = (
        "[...document.querySelectorAll('.plot')].filter((plot) => !plot.querySelector("
        "'.hm image, .points path, .scatterlayer path')).map((plot) => plot.id)"
    )
    assert browser.run(empty) == []
    browser.run("document.querySelectorAll('details').forEach((part) => part.open = true)")
    assert browser.overflow() <= 0
    assert browser.too_pale() == []
    browser.set_dark(True)
    assert browser.too_pale() == []
    assert browser.messages() == []


@pytest.fixture(scope="module")
def loaded(path, browser):
    browser.open(path)
    browser.run("document.documentElement.style.scrollBehavior = 'auto'")
    return browser


@pytest.fixture
def opened(loaded):
    """The page, loaded once, since that takes a second."""
    loaded.set_dark(False)
    return loaded


def test_letters_of_plots_follow_the_theme(opened):
    letters = "getComputedStyle(document.querySelector('#maps-1 .xtitle')).fill"
    assert opened.run(letters) == "rgb(28, 33, 38)"
    opened.set_dark(True)
    opened.until(f"{letters} == 'rgb(232, 230, 225)'")


def point(browser, plot, x, y):
    """Move the pointer to a place in the coordinates of a plot."""
    browser.run(f"document.getElementById('{plot}').scrollIntoView({{ block: 'center' }})")
    place = browser.run(
        f"((plot) => {{ const box = plot.getBoundingClientRect();"
        f"const {{ xaxis, yaxis }} = plot._fullLayout;"
        f"return [box.x + xaxis._offset + xaxis.d2p({x}), box.y + yaxis._offset + yaxis.d2p({y})];"
        f"}})(document.getElementById('{plot}'))"
    )
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])


def hover(browser, plot):
    lines = f"[...document.querySelectorAll('#{plot} .hoverlayer .hovertext tspan.line')]"
    browser.until(f"{lines}.length > 0")
    return browser.run(f"{lines}.map((line) => line.textContent)")


@pytest.mark.parametrize(("layer", "dimension"), [(1, 5), (2, 11)])
def test_hovering_a_cell_shows_the_value_of_python(opened, found, layer, dimension):
    report = found.layers[layer - 1]
    name = NAMED if layer == 1 else "rest.0"
    point(opened, "maps-1", layer, dimension)
    expected = f"s = {report.smoothness[dimension]:.4f}"
    assert hover(opened, "maps-1") == [f"layer {layer} ({name}), dimension {dimension}", expected]
    point(opened, "maps-2", layer, dimension)
    assert hover(opened, "maps-2")[1] == f"size {report.sizes[dimension]:.3g}"


def test_hovering_a_dead_dimension_says_so(opened):
    point(opened, "maps-1", 3, 7)
    first, second = hover(opened, "maps-1")
    assert first.endswith("dimensions 0 to 15")
    assert second == "dead: zero at every node"


def test_arrow_keys_walk_over_a_heat_map(opened, found):
    place = opened.driver.find_element("css selector", "#maps-1")
    said = "document.querySelector('#maps-1 ~ output').textContent"
    place.send_keys(Keys.ARROW_UP)
    s = found.layers[0].smoothness
    assert opened.run(said) == f"layer 1 ({NAMED}), dimension 0, s = {s[0]:.4f}"
    place.send_keys(Keys.ARROW_UP, Keys.ARROW_UP)
    assert opened.run(said).endswith(f"dimension 2, s = {s[2]:.4f}")
    place.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert opened.run(said).endswith("dimensions 0 to 15, dead: zero at every node")
    assert opened.run("document.activeElement.id") == "maps-1"


def test_curves_hold_the_values_of_python(opened, found):
    traces = opened.run(
        "[...document.querySelectorAll('#curves .plot')].map((plot) => plot.data.map("
        "({ name, y }) => [name, Array.from(y)]))"
    )
    curves = {name: values for plot in traces for name, values in plot}
    assert curves["effective rank"][:2] == [layer.effective_rank for layer in found.layers[:2]]
    assert curves["norm"] == [layer.norm or None for layer in found.layers]
    assert curves["normalized"][0] == found.layers[0].normalized_dirichlet_energy


def test_the_table_has_every_layer(opened, found):
    rows = opened.run(
        "[...document.querySelectorAll('#layers tbody tr')].map((row) =>"
        "[...row.cells].map((cell) => cell.textContent.trim()))"
    )
    assert [row[1] for row in rows] == [layer.name for layer in found.layers]
    assert rows[0][3] == "▼ vanishing gradient"
    assert rows[2][3].startswith("▼ dead")
    assert [float(row[6]) for row in rows] == [round(x.effective_rank, 2) for x in found.layers]


def test_a_picture_is_saved_dark_on_white(opened, tmp_path):
    opened.set_dark(True)
    opened.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    opened.run("document.querySelector('[data-save=maps-1]').click()")
    saved = tmp_path / "normalized-smoothness-s.png"
    for _ in range(200):
        if saved.exists():
            break
        opened.driver.execute_async_script("setTimeout(arguments[0], 50)")
    content = saved.read_bytes()
    assert content.startswith(b"\x89PNG")
    image = imread(saved)
    assert image.shape[1] == 1800
    assert image[5, 5, :3].min() == 1
    assert opened.messages() == []


def test_everything_can_be_reached_and_named(opened):
    nodes = opened.command("Accessibility.getFullAXTree")["nodes"]
    named = {}
    for node in nodes:
        if not node["ignored"]:
            name = node.get("name", {}).get("value", "").strip()
            named.setdefault(node["role"]["value"], []).append(name)
    for role, count in {"image": 7, "application": 2, "button": 9, "region": 9}.items():
        assert len(named[role]) >= count, role
        assert all(named[role]), role
    levels = opened.run(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((part) => +part.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_settings_open_by_keyboard(opened):
    summary = opened.driver.find_element("css selector", "#settings summary")
    opened.run("document.querySelector('#settings summary').focus()")
    assert not opened.run("document.querySelector('#settings details').open")
    summary.send_keys(Keys.ENTER)
    assert opened.run("document.querySelector('#settings details').open")
    shown = opened.run("document.querySelector('#settings pre').textContent")
    assert json.loads(shown)["dead"] == 0.8
