"""`contextlib.suppress` for the keeper, which starts for every box: contextlib itself takes too long to import."""

from __future__ import annotations


class suppress:
    """A context that ends where one of these exceptions is raised in it, and lets no more of them out."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)
