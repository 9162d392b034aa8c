"""All readers survive some damaged inputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import judged
from mutations import Corpus
from targets import READERS


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_a_value_or_one_line_of_refusal(name: str, tmp_path: Path) -> None:
    reader, corpus = READERS[name], Corpus.of(name)
    path = tmp_path / f"input{reader.ending}"

    found = [(i, judged(reader, path, corpus.input(7, i))) for i in range(250)]

    assert [(i, fault) for i, fault in found if fault is not None] == []


@pytest.mark.parametrize("name", READERS)
def test_the_texts_to_be_damaged_are_good(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    for data in Corpus.of(name).seeds:
        reader(tmp_path / f"input{reader.ending}", data)


@pytest.mark.parametrize("name", READERS)
def test_the_same_seed_gives_the_same_inputs_and_another_seed_others(name: str) -> None:
    corpus, again = Corpus.of(name), Corpus.of(name)
    later = range(len(corpus.seeds), len(corpus.seeds) + 50)

    inputs = [corpus.input(3, i) for i in later]

    assert inputs == [again.input(3, i) for i in later]
    assert inputs != [corpus.input(4, i) for i in later]
