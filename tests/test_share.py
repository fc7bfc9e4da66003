"""The shares of many cases: together they are all of them."""

from __future__ import annotations

import pytest

from share import Share


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("of", [1, 3, 4])
def test_each_case_is_in_one_share(count: int, of: int) -> None:
    cases = list(range(count))
    shares = [Share(of, first).some(cases) for first in range(of)]
    assert sorted(case for share in shares for case in share) == cases
