"""Options of SimGrid that a platform file sets."""

from __future__ import annotations

from platform_files import refusal

from noctule.simgrid_options import SimgridOptions, simgrid_options


def test_old_and_new_names_are_read_and_the_rest_is_left_alone() -> None:
    options = simgrid_options(
        {
            "network/TCP_gamma": "1e12",
            "maxmin/precision": "1e-6",
            "precision/timing": "1e-8",
            "network/loopback-bw": "5e9",
            "network/coordinates": "yes",
        }
    )

    assert options == SimgridOptions(1e12, 1e-6, 1e-8, 5e9, 0.0)


def test_what_is_no_number_is_refused() -> None:
    assert refusal(lambda: simgrid_options({"network/TCP-gamma": "many"}, "p.xml")) == (
        "p.xml: option network/TCP-gamma: got 'many', expected a number, not negative"
    )
