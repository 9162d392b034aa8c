"""The screenshots of reports: small, and each shown in a page that says what makes them."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_screenshot_is_small_and_shown():
    text = (DOCS / "howto" / "read-a-report.md").read_text()
    images = sorted((DOCS / "images" / "report").glob("*.png"))
    assert [image.name for image in images if image.stat().st_size >= 150_000] == []
    assert [image.stem for image in images] == ["campaign", "job", "overview", "period"]
    assert [image for image in images if f"](../images/report/{image.name})" not in text] == []
    assert "`make test-browser`" in text
