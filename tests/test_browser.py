def test_the_browser_notices_what_pages_are_tested_for(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        """
        <body style="background: white">
        <p style="width: 600px; color: #ccc">pale and wide</p>
        <p style="width: 100px; color: #333">dark and narrow</p>
        <img src="missing.png" alt="">
        <script>console.error("a complaint")</script>
        """,
        encoding="utf-8",
    )
    browser.open(page, width=390)
    assert browser.overflow() > 0
    assert any("a complaint" in message for message in browser.messages())
    assert [name.rpartition("/")[2] for name in browser.fetched()] == ["missing.png"]
    pale = browser.too_pale()
    assert len(pale) == 1
    assert pale[0].startswith("pale and wide: 1.6")
