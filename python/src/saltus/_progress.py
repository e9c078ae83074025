"""How far a run is, by tqdm or by a function of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional


@contextmanager
def reporter(progress: Any, count: int, label: str) -> Iterator[Optional[Callable[[int], None]]]:
    """What a run calls with the number of instances that have ended; None if nobody asks."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield lambda done: progress(done, count)
    else:
        from tqdm.auto import tqdm

        with tqdm(total=count, desc=label, unit="inst") as bar:
            yield lambda done: bar.update(done - bar.n)
