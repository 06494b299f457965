import json
import re

import pytest
import torch
from selenium.webdriver import ActionChains, Keys
from torch import nn

from graphsct import geometry, smoothness
from graphsct.paper.explore import SMALL_GRAPHS, page
from graphsct.paper.figures.figure2 import ALPHAS, trajectories

SLOPES = (0.0, 0.01, 0.2, 1.0)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("explore") / "explore.html"
    path.write_text(page(SMALL_GRAPHS), encoding="utf-8")
    return path


@pytest.fixture
def opened(path, browser):
    browser.open(path)
    browser.run("document.documentElement.style.scrollBehavior = 'auto'")  # as clicks expect
    return browser


def element(browser, selector):
    return browser.driver.find_element("css selector", selector)


def choose(browser, name):
    index = [small.name for small in SMALL_GRAPHS].index(name)
    browser.run(f"document.querySelectorAll('[name=graph]')[{index}].click()")


def text(browser, name):
    return browser.run(f"document.getElementById('{name}').textContent")


def number(browser, name):
    return float(text(browser, name).replace("−", "-"))


def move(browser, name, value):
    browser.run(
        f"((slider) => {{ slider.value = {value}; "
        f"slider.dispatchEvent(new Event('input')); }})(document.getElementById('{name}'))"
    )


# --- numbers ---


def features(small, generator):
    """Random features, some with ties or almost, and those that are smooth, single or zero."""
    n, m = small.graph.num_nodes, small.graph.num_components
    ties = 0.3 * torch.randint(0, 2, (1, n), generator=generator) * small.graph.degree.sqrt()
    almost = ties + 1e-6 * torch.arange(n)
    smooth = small.graph.unpool(torch.full((m, 1), -0.7, dtype=torch.float64)).T
    single = torch.eye(n, dtype=torch.float64)[:1]
    drawn = torch.randn(3, n, dtype=torch.float64, generator=generator)
    return torch.cat([drawn, ties, almost, smooth, single, 0 * single])


def cases():
    """Graph, slope, z and alpha, with a good share of alphas so large that ReLU leaves nothing."""
    generator = torch.Generator().manual_seed(0)
    for index, small in enumerate(SMALL_GRAPHS):
        for z in features(small, generator):
            shape = (2, small.graph.num_components)
            drawn = 2.5 * torch.randn(shape, dtype=torch.float64, generator=generator)
            for alpha in (0 * drawn[0], *drawn, 0 * drawn[0] + 20):
                for slope in SLOPES:
                    yield index, slope, z, alpha


COMPUTE = """
return arguments[0].map(([index, slope, z, alpha]) => {
  const graph = explore.graphs[index];
  const y = explore.shift(graph, z, alpha);
  const h = explore.activate(y, slope);
  const found = explore.sphere(graph, y, slope);
  const ranges = alpha.map((_, k) => explore.smoothnessRange(graph, z, slope, k));
  return {
    smooth: explore.project(graph, z),
    mixed: explore.propagate(graph, z),
    h,
    s: explore.normalizedSmoothness(graph, h),
    parts: alpha.map((_, k) => explore.componentSmoothness(graph, h, k)),
    distance: explore.distanceToEigenspace(graph, h),
    energy: explore.dirichletEnergy(graph, h),
    center: found.center,
    radius: found.radius,
    residual: found.residual,
    lower: ranges.map((range) => range.lower),
    upper: ranges.map((range) => range.upper),
    lowerAttained: ranges.map((range) => range.lowerAttained),
    upperAttained: ranges.map((range) => range.upperAttained),
  };
});
"""


def expected(index, slope, z, alpha):
    graph = SMALL_GRAPHS[index].graph
    z = z.unsqueeze(1)
    y = z - graph.unpool(alpha.unsqueeze(1))
    h = nn.functional.leaky_relu(y, slope)
    # At slope 1 nothing happens, the sphere is a point and geometry.sphere refuses it.
    ball = geometry.sphere(y, graph, slope) if slope < 1 else None
    limits = geometry.smoothness_range(z, graph, nn.LeakyReLU(slope))
    squares = torch.zeros(graph.num_components, dtype=torch.float64)
    norm = squares.index_add(0, graph.component, h[:, 0].square()).sqrt()
    parts = torch.where(norm > 0, graph.pool(h)[:, 0].abs() / norm, 1)
    return {
        "smooth": graph.project(z)[:, 0],
        "mixed": graph.propagate(z)[:, 0],
        "h": h[:, 0],
        "s": smoothness.normalized_smoothness(h, graph)[0],
        "parts": parts,
        "distance": smoothness.distance_to_eigenspace(h, graph),
        "energy": smoothness.dirichlet_energy(h, graph),
        "center": (y - graph.project(y))[:, 0] if ball is None else ball.center[:, 0],
        "radius": torch.tensor(0.0) if ball is None else ball.radius,
        "residual": torch.tensor(0.0),
        "lower": limits.lower[:, 0],
        "upper": limits.upper[:, 0],
        "lowerAttained": limits.lower_attained[:, 0],
        "upperAttained": limits.upper_attained[:, 0],
    }


def test_the_page_computes_what_graphsct_does(opened):
    asked = list(cases())
    assert len(asked) == 6 * 8 * 4 * 4
    plain = [(index, slope, z.tolist(), alpha.tolist()) for index, slope, z, alpha in asked]
    for case, found in zip(asked, opened.driver.execute_script(COMPUTE, plain), strict=True):
        for name, value in expected(*case).items():
            ours, theirs = torch.tensor(found[name], dtype=torch.float64), value.double()
            # The residual is a root of a difference that should be zero.
            most = 1e-7 if name == "residual" else 1e-9
            assert (ours - theirs).abs().max() < most, (name, case)


SOLVE = """
return arguments[0].map(([index, slope, z, k, wanted]) =>
  explore.solveAlpha(explore.graphs[index], z, slope, k, wanted, 1000));
"""


def test_the_shift_for_a_wanted_smoothness_is_that_of_solve_alpha(opened):
    asked, alphas = [], []
    for index, slope, z, _ in cases():
        graph, column = SMALL_GRAPHS[index].graph, z.unsqueeze(1)
        lower = geometry.smoothness_range(column, graph, nn.LeakyReLU(slope)).lower[:, 0]
        for k in (lower < 0.9).nonzero()[:, 0].tolist():
            wanted = 0.5 * (float(lower[k]) + 0.95)
            target = torch.ones(graph.num_components, 1, dtype=torch.float64)
            if slope > 0:
                target = lower.unsqueeze(1).clamp_min(0.5)
            target[k] = wanted
            asked.append((index, slope, z.tolist(), k, wanted))
            alphas.append(geometry.solve_alpha(column, graph, target, nn.LeakyReLU(slope))[k, 0])
    found = torch.tensor(opened.driver.execute_script(SOLVE, asked), dtype=torch.float64)
    assert len(asked) > 100
    assert (found - torch.stack(alphas)).abs().max() < 1e-6


def test_the_slider_of_the_wanted_smoothness_moves_the_shift(opened):
    move(opened, "wanted", 0.8)
    assert number(opened, "wanted-value") == number(opened, "now-s") == 0.8
    before = number(opened, "alpha-value")
    move(opened, "wanted", 0.01)  # less than a shift can reach: the least that it can
    least = number(opened, "now-s")
    assert 0.1 < least < 0.8 and number(opened, "alpha-value") > before
    choose(opened, "Two components")
    move(opened, "wanted", 0.9)
    assert number(opened, "wanted-value") == 0.9 != number(opened, "now-s")


def test_trajectories_are_those_of_figure_2(opened):
    calls = f"{json.dumps(ALPHAS)}.map((alpha) => explore.trajectories(explore.figure, alpha))"
    found = torch.tensor(opened.run(calls), dtype=torch.float64)
    assert (found - torch.from_numpy(trajectories().h)).abs().max() < 1e-12


# --- looks ---

PALE_LETTERS = """((least) => {
  const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255);
  const light = (colour) => {
    const part = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const card = parse(getComputedStyle(document.querySelector(".card")).backgroundColor);
  return [...document.querySelectorAll("svg text")].filter((text) => {
    const before = text.previousElementSibling;
    let back = card;
    if (before?.tagName === "circle" && before.getAttribute("cy") === text.getAttribute("y")) {
      const share = Number(getComputedStyle(before).fillOpacity);
      back = parse(getComputedStyle(before).fill).map((v, i) => share * v + (1 - share) * card[i]);
    }
    const pair = [light(parse(getComputedStyle(text).fill)), light(back)];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05) < least;
  }).map((text) => `${text.closest("[id]").id} ${text.textContent}`);
})(4.5)
"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_all_of_it(path, browser, width, dark):
    browser.open(path, width=width, dark=dark)
    for small in SMALL_GRAPHS:
        choose(browser, small.name)
        browser.run(  # the strongest colours
            "document.querySelectorAll('.handle').forEach((handle, i) => handle.dispatchEvent("
            "new KeyboardEvent('keydown', { key: i % 2 ? 'Home' : 'End' })))"
        )
        assert browser.overflow() <= 0
        assert browser.run(PALE_LETTERS) == []
        count = "document.querySelectorAll('#h-net .node, #h-stems .dot').length"
        assert browser.run(count) == 2 * small.graph.num_nodes
    assert browser.too_pale() == []
    assert browser.messages() == []
    assert browser.fetched() == []


def test_pictures_follow_the_theme_and_the_width(opened):
    stroke = "getComputedStyle(document.querySelector('#curve .line')).stroke"
    before = opened.run(stroke)
    opened.set_dark(True)
    opened.until(f"{stroke} != '{before}'")
    fits = "document.querySelector('#curve').viewBox.baseVal.width === curve.clientWidth"
    assert opened.run(fits)
    opened.command(
        "Emulation.setDeviceMetricsOverride",
        width=700,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    opened.until(f"document.querySelector('#curve').clientWidth < 660 && {fits}")


def test_a_window_without_width_is_no_error_and_what_is_hidden_comes_back(opened):
    opened.messages()
    opened.run("document.body.style.display = 'none'")
    move(opened, "slope", 1)
    opened.run("new Promise((done) => setTimeout(done, 50))")
    opened.run("document.body.style.display = ''")
    opened.until(
        "document.getElementById('h-s').textContent === document.getElementById('y-s').textContent"
    )
    assert opened.messages() == []


def test_everything_has_a_name(opened):
    choose(opened, "Two components")
    nodes = opened.command("Accessibility.getFullAXTree")["nodes"]
    found = {}
    for node in nodes:
        if not node["ignored"]:
            name = node.get("name", {}).get("value", "").strip()
            found.setdefault(node["role"]["value"], []).append(name)
    for role, count in {"slider": 10, "radio": 8, "button": 6, "image": 9, "group": 5}.items():
        assert len(found[role]) >= count, role
        assert all(found[role]), role
    assert "z at node 6" in found["slider"]


# --- hands ---


def test_the_shift_slider_moves_point_and_curve(opened):
    graph, z = SMALL_GRAPHS[0].graph, torch.tensor(SMALL_GRAPHS[0].z, dtype=torch.float64)
    point = "document.querySelector('#curve .now-dot')"
    before = opened.run(f"[{point}.getAttribute('cx'), {point}.getAttribute('cy')]")
    still = opened.run("document.querySelector('#curve .line.input').getAttribute('d')")
    slider = element(opened, "#alpha")
    slider.send_keys(*[Keys.ARROW_RIGHT] * 8)
    assert number(opened, "alpha-value") == 0.4
    h = (z.unsqueeze(1) - 0.4 * graph.basis.unsqueeze(1)).relu()
    s = smoothness.normalized_smoothness(h, graph).item()
    assert number(opened, "now-s") == number(opened, "h-s") == round(s, 2)
    distance = smoothness.distance_to_eigenspace(h, graph).item()
    assert number(opened, "h-distance") == round(distance, 2)
    after = opened.run(f"[{point}.getAttribute('cx'), {point}.getAttribute('cy')]")
    assert float(after[0]) > float(before[0])
    # s = 0 is drawn at y = 278 and s = 1 at y = 16.
    assert float(after[1]) == pytest.approx(278 - 262 * s, abs=1e-6)
    # All shifts are on the curve already, so that it stays.
    assert opened.run("document.querySelector('#curve .line.input').getAttribute('d')") == still
    assert opened.run("document.activeElement.id") == "alpha"


def test_the_curve_stays_in_reach_and_touches_its_least(opened):
    for small in SMALL_GRAPHS:
        choose(opened, small.name)
        z = torch.tensor(small.z, dtype=torch.float64).unsqueeze(1)
        least = geometry.smoothness_range(z, small.graph).lower[0, 0].item()
        drawn = opened.run("document.querySelector('#curve .line.own').getAttribute('d')")
        heights = [float(pair.split(",")[1]) for pair in drawn[1:].split("L")]
        values = [(278 - height) / 262 for height in heights]
        assert min(values) == pytest.approx(least, abs=1e-4)
        assert max(values) < 1
        assert f"from {least:.2f} to 1" in text(opened, "curve-says")


def test_a_pointer_on_the_curve_moves_the_shift(opened):
    curve = element(opened, "#curve")
    opened.run("document.querySelector('#curve').scrollIntoView({ block: 'center' })")
    ActionChains(opened.driver).move_to_element_with_offset(curve, 80, 0).click().perform()
    assert number(opened, "alpha-value") > 0.5


def test_the_slope_slider_changes_activation_sphere_and_reach(opened):
    radius = "document.querySelector('#sphere .ring.largest').getAttribute('r')"
    before = float(opened.run(radius))
    element(opened, "#slope").send_keys(*[Keys.ARROW_RIGHT] * 20)
    assert text(opened, "slope-value") == "0.2: leaky ReLU"
    assert float(opened.run(radius)) == pytest.approx(0.8 * before)
    assert "from 0 to just below 1" in text(opened, "curve-says")
    element(opened, "#slope").send_keys(Keys.END)
    assert text(opened, "slope-value") == "1: none"
    assert number(opened, "h-s") == number(opened, "y-s")
    assert "the gaps stay" in text(opened, "seen")


def test_features_are_moved_by_keys_and_keep_the_focus(opened):
    handle = element(opened, ".handle:nth-of-type(3)")
    value = "Number(document.activeElement.getAttribute('aria-valuenow'))"
    opened.run("document.querySelectorAll('.handle')[1].focus()")
    assert opened.run(value) == 0.7
    for key, wanted in (
        (Keys.ARROW_UP, 0.8),
        (Keys.ARROW_LEFT, 0.7),
        (Keys.PAGE_UP, 1.2),
        (Keys.END, 2),
        (Keys.ARROW_UP, 2),
        (Keys.HOME, -2),
    ):
        handle.send_keys(key)
        assert opened.run(value) == wanted
        assert opened.run("explore.state.z[1]") == wanted
    z = torch.tensor(opened.run("explore.state.z"), dtype=torch.float64).unsqueeze(1)
    graph = SMALL_GRAPHS[0].graph
    assert number(opened, "z-s") == round(smoothness.normalized_smoothness(z, graph).item(), 2)
    energy = smoothness.dirichlet_energy(z, graph).item()
    assert number(opened, "z-energy") == round(energy, 2)


def test_features_are_dragged(opened):
    handle = element(opened, ".handle")
    before = opened.run("explore.state.z")
    opened.run("document.querySelector('.handle').scrollIntoView({ block: 'center' })")
    place = handle.rect
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    y -= opened.run("scrollY")
    for kind, down in (("mousePressed", 0), ("mouseMoved", 48), ("mouseReleased", 48)):
        opened.command(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y + down, button="left", clickCount=1
        )
    after = opened.run("explore.state.z")
    # 192 pixels are 4 units.
    assert after[0] == pytest.approx(before[0] - 1, abs=0.051)
    assert after[1:] == before[1:]


def test_each_component_has_its_own_shift(opened):
    choose(opened, "Two components")
    before = opened.run("explore.activate(explore.state.z, 0)")
    element(opened, "#components label:nth-of-type(2) input").click()
    element(opened, "#alpha").send_keys(*[Keys.ARROW_RIGHT] * 6)
    alpha = opened.run("explore.state.alpha")
    assert alpha == [0, pytest.approx(0.3)]
    label = opened.run("document.getElementById('h-stems').getAttribute('aria-label')")
    values = [float(v.replace("−", "-")) for v in re.findall(r"node \d+ ([−\d.]+)", label)]
    assert values[:3] == before[:3]
    assert values[3] == pytest.approx(0.8 - 0.3 * (2 / 7) ** 0.5, abs=0.005)
    choose(opened, "Star")
    assert not opened.run("document.getElementById('components').checkVisibility()")


def test_buttons_fill_in_features(opened):
    element(opened, "[data-fill=smooth]").click()
    assert number(opened, "z-s") == 1
    assert number(opened, "z-distance") == 0
    assert "The input is smooth" in text(opened, "curve-says")
    element(opened, "[data-fill=single]").click()
    assert opened.run("explore.state.z") == [1.5, 0, 0, 0, 0, 0]
    element(opened, "[data-fill=random]").click()
    drawn = opened.run("explore.state.z")
    element(opened, "[data-fill=random]").click()
    assert opened.run("explore.state.z") != drawn
    assert all(abs(value) <= 1.5 for value in drawn)


def test_a_zero_output_is_called_zero(opened):
    element(opened, "#alpha").send_keys(Keys.END)
    assert number(opened, "h-s") == 1
    assert "by definition only" in text(opened, "seen")
    assert "because it is zero" in text(opened, "curve-says")


def test_a_constant_raises_s_and_parts_the_same_nodes(opened):
    assert SMALL_GRAPHS[0].name == "Cycle"  # all its degrees are equal
    right = (
        "[...document.querySelectorAll('#line .bead.right')]"
        ".map((bead) => bead.nextElementSibling.textContent)"
    )
    told = r"s was (\d\.\d+) and is now (\d\.\d+);.*M was (\d\.\d+) and is now (\d\.\d+)"
    move(opened, "constant", 0)
    s, same, distance, also = map(float, re.search(told, text(opened, "line-says")).groups())
    assert s == same < 0.9
    assert distance == also
    before = opened.run(right)
    assert 0 < len(before) < 6
    element(opened, "#constant").send_keys(Keys.END)
    again, raised, _, still = map(float, re.search(told, text(opened, "line-says")).groups())
    assert again == s
    assert raised > 0.95
    assert still == distance
    assert opened.run(right) == before


@pytest.mark.parametrize(("alpha", "dead"), list(zip(ALPHAS, (18, 6, 0), strict=True)))
def test_the_control_moves_trajectories(opened, alpha, dead):
    move(opened, "control", 0.3)
    dots = "document.querySelectorAll('#trajectory .step')"
    before = opened.run(f"[...{dots}].slice(0, 9).map((dot) => dot.getAttribute('cy'))")
    element(opened, f"[data-control='{alpha}']").click()
    assert number(opened, "control-value") == alpha
    assert opened.run(f"[...{dots}].slice(0, 9).map((dot) => dot.getAttribute('cy'))") != before
    assert f"{dead} of 20 are dead" in text(opened, "trajectory-says")
    assert opened.run("document.querySelectorAll('#trajectory .cross').length") == (dead > 0)
