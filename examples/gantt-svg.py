"""Draw the schedule of a run as an SVG picture: time from left to right, hosts from top to bottom.

python examples/gantt-svg.py out/demo/easy out/demo/easy.svg
"""

import sys
from pathlib import Path

import numpy as np

from noctule import Schedule

WIDTH, HEIGHT = 1200, 480


def gantt(schedule: Schedule) -> str:
    """Return the picture; a job has the same colour wherever it appears."""
    started = ~np.isnan(schedule.column("start_time"))
    starts, ends = schedule.column("start_time"), schedule.column("finish_time")
    x = WIDTH / np.nanmax(ends)
    y = HEIGHT / schedule.platform.n_hosts
    boxes = []
    for row in np.flatnonzero(started).tolist():
        left, width = starts[row] * x, (ends[row] - starts[row]) * x
        title = f"<title>job {schedule.column('job_id')[row]}</title>"
        fill = f'fill="hsl({row * 137 % 360},55%,60%)"'
        for first, last in schedule.record.hosts(row).intervals():
            top, height = first * y, (last - first + 1) * y
            place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
            boxes.append(f"<rect {place} {fill}>{title}</rect>")
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    background = '<rect width="100%" height="100%" fill="#f4f4f2"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{background}{"".join(boxes)}</svg>\n'


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(gantt(Schedule.load(sys.argv[1])))
    print(f"{sys.argv[2]}: a picture of {sys.argv[1]}, to be opened in a browser")
