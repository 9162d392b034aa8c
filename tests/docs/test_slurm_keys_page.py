"""The page about keys of Slurm's files is what the reader's declarations say."""

from __future__ import annotations

from pathlib import Path

from noctule.slurm.conf.reference import settings_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "slurm_keys.md"


def test_the_page_is_made_from_the_declarations():
    assert PAGE.read_text() == settings_page(), (
        "python -m noctule.slurm.conf.reference > docs/reference/slurm_keys.md writes it again"
    )
