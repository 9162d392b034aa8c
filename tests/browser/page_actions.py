"""What a reader does with a page, and what is then shown."""

from __future__ import annotations

from typing import Any


def place_in_gantt(page: Any, run: int, time: float, host: float) -> tuple[float, float]:
    """Return where a date and a host are in the window."""
    place = page.evaluate(
        """([run, time, host]) => {
            const { view, element } = noctule.gantts[run].figure;
            const { left, top } = element.getBoundingClientRect();
            const { x_scale, y_scale } = view.frame;
            return [left + x_scale.compute(time), top + y_scale.compute(host)];
        }""",
        [run, time, host],
    )
    return float(place[0]), float(place[1])


def settled(page: Any) -> None:
    """Wait until figures and tables have followed the view."""
    # in the page, whose own timers are all shorter
    drawn = "requestAnimationFrame(() => setTimeout(done))"
    page.evaluate(f"new Promise((done) => setTimeout(() => {drawn}, 600))")


def period(page: Any) -> list[float]:
    return list(page.evaluate("noctule.view.period"))


def facts_in(page: Any, selector: str) -> dict[str, str]:
    """Return a list of facts that is shown."""
    names = page.locator(f"{selector} dt").all_inner_texts()
    texts = page.locator(f"{selector} dd").all_inner_texts()
    return dict(zip(names, texts, strict=True))


def table_rows(page: Any, selector: str) -> list[list[str]]:
    """Return the cells that a table shows."""
    rows = page.locator(f"{selector} tbody tr")
    return [row.locator("td").all_inner_texts() for row in rows.all()]
