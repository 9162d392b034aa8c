"""Pages of reports in a real Chromium, where it was asked for and can be had.

What a page says on its console, what it asks of the network and what breaks in it fails the test
that opened it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_runs import night_campaign, night_runs

from noctule.report import ReportRun, load_campaign, write_campaign_report, write_report

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if os.environ.get("NOCTULE_TEST_BROWSER") != "1":
        pytest.skip("`make test-browser` opens pages in Chromium")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no Chromium here: tests/browser/install-chromium installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # root, as in containers, has no sandbox
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Open]:
    """Give a function that opens a page, with a view in its address, once it is ready."""
    trouble: list[str] = []
    contexts = []

    def opened(path: Path, view: str = "", **options: Any) -> Any:
        size = {"width": 1280, "height": 900}
        context = chromium.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: trouble.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: trouble.append(f"request: {request.url}"))
        address = path.as_uri() + (f"#{view}" if view else "")
        page.goto(address)
        page.wait_for_selector("html[data-state=ready], html[data-state=failed]", timeout=60_000)
        assert trouble.pop(0) == f"request: {path.as_uri()}"
        assert trouble == []
        return page

    yield opened
    for context in contexts:
        context.close()
    # what was saved goes through an address that the page has made
    assert [line for line in trouble if not line.startswith("request: blob:")] == []


@pytest.fixture(scope="session")
def night() -> list[ReportRun]:
    """A night of 1500 jobs on 128 hosts, under three policies."""
    return night_runs()


@pytest.fixture(scope="session")
def night_page(
    chromium: Any, night: list[ReportRun], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("night") / "night.html"
    write_report(night, path, title="A night under three policies")
    return path


@pytest.fixture(scope="session")
def campaign(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three policies, each at three loads with four seeds, and a policy that fails."""
    return night_campaign(tmp_path_factory.mktemp("campaign"))


@pytest.fixture(scope="session")
def campaign_page(campaign: Path) -> Path:
    path = campaign.parent / "campaign.html"
    write_campaign_report(load_campaign(campaign), path, title="Loads")
    return path
