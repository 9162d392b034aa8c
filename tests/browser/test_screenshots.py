"""The screenshots of the documentation: written where NOCTULE_SCREENSHOTS says, else only made."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest
from page_actions import place_in_gantt, settled

KILOBYTE = 1000


def keep(shot: bytes, name: str) -> None:
    """Write a picture in 128 colours; more would double its size and not be seen."""
    image = pytest.importorskip("PIL.Image")
    told = io.BytesIO()
    image.open(io.BytesIO(shot)).convert("RGB").quantize(128).save(told, "png", optimize=True)
    assert 10 * KILOBYTE < len(told.getvalue()) < 200 * KILOBYTE
    folder = os.environ.get("NOCTULE_SCREENSHOTS")
    if folder is not None:
        (Path(folder) / name).write_bytes(told.getvalue())


def test_three_runs_one_above_the_other(open_page, night_page):
    page = open_page(night_page, "theme=light")
    settled(page)
    clip = {"x": 0, "y": 0, "width": 1280, "height": 1180}
    page.set_viewport_size({"width": 1280, "height": 1180})
    settled(page)
    keep(page.screenshot(clip=clip), "overview.png")


def test_a_job_that_is_pointed_at(open_page, night_page, night):
    # the largest job of those that waited for six hours or more
    schedule = night[1].schedule
    record = schedule.record
    size = schedule.column("runtime") * record.n_hosts
    row = int(np.argmax(np.where(schedule.column("waiting_time") > 6 * 3600.0, size, 0.0)))
    start, finish = float(record.start_time[row]), float(record.finish_time[row])
    view = f"t={record.submit_time[row] - 3600:.0f}~{finish + 7200:.0f}&colour=wait&runs=1"
    page = open_page(night_page, f"theme=light&{view}&job={schedule.column('job_id')[row]}")
    host = record.hosts(row).intervals()[0][0] + 8
    page.mouse.move(*place_in_gantt(page, 1, (start + finish) / 2, host))
    page.wait_for_selector(".tip:not([hidden])")
    settled(page)
    keep(page.screenshot(), "job.png")


def test_a_chosen_period_in_the_dark(open_page, night_page):
    page = open_page(night_page, "theme=dark&colour=user&brush=280000~340000&runs=1.2")
    page.set_viewport_size({"width": 1280, "height": 1060})
    settled(page)
    keep(page.screenshot(), "period.png")


def test_a_campaign_by_load(open_page, campaign_page):
    view = "by=workload.load&within=policy&metric=mean_bounded_slowdown&y=mean_bounded_slowdown"
    page = open_page(campaign_page, f"theme=light&{view}")
    page.set_viewport_size({"width": 1280, "height": 1060})
    settled(page)
    keep(page.screenshot(), "campaign.png")
