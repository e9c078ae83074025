"""Progress of a run, by tqdm or by a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

from . import _core


@contextmanager
def reporter(progress: Any, count: int, label: str) -> Iterator[Optional[Callable[[int, int], Any]]]:
    """The function that a run calls with the numbers of ended and of all instances; None without progress."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    else:
        from tqdm.auto import tqdm

        with tqdm(total=count, desc=label, unit="inst") as bar:
            def show(done: int, of: int) -> None:
                bar.total = of or count
                bar.set_postfix_str(_core.compiling_now(), refresh=False)
                bar.update(done - bar.n)

            yield show
