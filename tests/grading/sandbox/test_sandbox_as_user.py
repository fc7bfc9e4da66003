"""The tests of this folder by an ordinary user."""

from __future__ import annotations

from pathlib import Path

import ordinary

# What does not depend on the user is not run twice, and TensorFlow is started once.
LEFT_OUT = (
    "seccomp",
    "as_user",
    "tensorflow_works_under_landlock",
    "removal_follows",
    "grows_or_is_exchanged",
    "verdicts",
)


@ordinary.only_root
def test_everything_holds_for_an_ordinary_user() -> None:
    selected = " and ".join(f"not {name}" for name in LEFT_OUT)
    ordinary.passes("-n", "2", "--dist", "loadfile", "-k", selected, str(Path(__file__).parent))
