"""A real browser for pages: Debian's Chromium, by its own driver."""

import base64
import json
import shutil
from contextlib import contextmanager

import pytest

# It talks to nobody, and leaves nothing behind.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@contextmanager
def open_browser(folder):
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(programs):
        pytest.skip("chromium and chromedriver are not installed: pages are not looked at")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=programs[1])
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """One tab."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1440, height=900, dark=False):
        """Load a file in a window of this size and theme."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,  # a mobile browser widens its window to what does not fit
        )
        self.set_dark(dark)
        self.messages()
        self.driver.get_log("performance")
        self.driver.get(path.absolute().as_uri())

    def set_dark(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script):
        """The value of a JavaScript expression."""
        return self.driver.execute_script(f"return {script}")

    def messages(self):
        """What the console said since the last question."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def fetched(self):
        """What was asked for since the last question, besides the page itself."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        asked = [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]
        page = self.driver.current_url.partition("#")[0]
        return [
            url for url in asked if url != page and not url.startswith(("data:", "blob:", "chrome"))
        ]

    def until(self, expression):
        """Wait for a JavaScript expression to hold."""
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.driver, 60, 0.05).until(lambda _: self.run(expression))

    def overflow(self):
        """By how many pixels the page is wider than the window."""
        return self.run(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def too_pale(self, ratio=4.5):
        """Texts whose contrast with what is behind them is less than ``ratio`` (WCAG AA)."""
        return self.run(f"({_CONTRAST})({json.dumps(ratio)})")

    def screenshot(self, path):
        """The whole page as a PNG file."""
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


_CONTRAST = """
(least) => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (top, below) =>
    [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]).concat(1);
  const back = (element) => {
    if (!element) return [255, 255, 255, 1];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, back(element.parentElement));
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const words = texts.currentNode.textContent.trim();
    if (!words || !element.getClientRects().length || element.closest("script, svg")) continue;
    const pair = [parse(getComputedStyle(element).color), back(element)].map(light);
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < least) found.push(`${words.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return found;
}
"""
