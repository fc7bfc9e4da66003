"""Ends what the sandbox's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sandbox_cases


@pytest.fixture(scope="session", autouse=True)
def _warm_server_ends() -> Iterator[None]:
    yield
    if sandbox_cases.warm_server.cache_info().currsize:
        sandbox_cases.warm_server().close()
