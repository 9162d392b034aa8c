"""Whatever a command line says, it asks for a run or is refused in one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from noctule.batsim.arguments4 import execution_context, read_arguments
from noctule.batsim.options import BatsimError, Takes
from noctule.batsim.options4 import BATSIM_OPTIONS, OWN_OPTIONS

OPTIONS = [*BATSIM_OPTIONS, *OWN_OPTIONS]
names = st.sampled_from([name for one in OPTIONS for name in (one.name, one.short) if name])
cut = st.builds(lambda name, n: name[: n + 2], names, st.integers(0, 12))
values = st.one_of(
    st.sampled_from(["1", "-1", "a:storage", "quiet", "1.5", ""]), st.text(max_size=4)
)
words = st.lists(
    st.one_of(names, cut, values, st.builds("{}={}".format, names, values)), max_size=8
)
# options that need a value of their own kind, or another option, or are answered before all others
SPECIAL = {"--platform", "--verbosity", "--redis-port", "--add-role-to-hosts", "--sg-cfg"}
SPECIAL |= {"--mmax", "--workflow-jobs-limit", "--timeout", "--enable-profile-reuse"}
SPECIAL |= {"--sched-cfg", "--sched-cfg-file", "--workflow-start", "--export"}
PLAIN = [one for one in OPTIONS if one.name not in SPECIAL]


@given(words)
def test_any_words_ask_for_a_run_or_are_refused(words: list[str]) -> None:
    said = said_of(words)
    assert said.isprintable()


def said_of(words: list[str]) -> str:
    try:
        return execution_context(read_arguments(words))[:1]
    except BatsimError as error:
        return str(error) if error.code == 255 else f"\N{BEL}{error.code}"


@given(st.lists(st.sampled_from(PLAIN), unique=True), st.randoms(use_true_random=False))
def test_the_order_and_the_spelling_of_options_do_not_matter(chosen, random) -> None:
    groups = [[one.name] if one.takes is Takes.NOTHING else [one.name, "x"] for one in chosen]
    expected = read_arguments(["-p", "f", *(word for group in groups for word in group)])
    spelled = [["--platform=f"]]
    for one in chosen:
        if one.takes is Takes.NOTHING:
            spelled.append([one.short or one.name])
        else:
            spelled.append([f"{one.short}x" if one.short else f"{one.name}=x"])
    random.shuffle(spelled)
    assert read_arguments([word for group in spelled for word in group]) == expected
