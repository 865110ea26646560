"""A thread of its own: late, but never in the way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from hermes.lane import MOST_WAITING, Lane, LaneBusy


@pytest.fixture
def lane() -> Iterator[Lane]:
    made = Lane("a lane")
    yield made
    made.close()


def fails() -> None:
    raise ValueError("no")


def test_it_gives_what_is_made_plain_or_awaited(lane: Lane) -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert lane.call(lambda: 7, 5) == 7
    assert lane.call(later, 5) == "a lane"
    assert asyncio.run(lane.wait(later, 5)) == "a lane"


def test_failures_come_back_and_later_work_goes_on(lane: Lane) -> None:
    with pytest.raises(ValueError, match="no"):
        lane.call(fails, 5)
    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        lane.call(lambda: exit(3), 5)
    assert lane.call(lambda: 1, 5) == 1


def test_an_own_timeout_is_not_taken_for_ours(lane: Lane) -> None:
    def own() -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        lane.call(own, 5)
    with pytest.raises(TimeoutError, match="mine"):
        asyncio.run(lane.wait(own, 5))


def test_what_blocks_is_waited_for_once(lane: Lane) -> None:
    free = threading.Event()
    with pytest.raises(TimeoutError, match=r"no answer within 0.05 s"):
        lane.call(free.wait, 0.05)
    assert lane.busy
    with pytest.raises(LaneBusy, match="a lane is still busy"):
        asyncio.run(lane.wait(lambda: 1, 5))
    lane.post(lambda: 1)
    assert lane.left_out == 1
    free.set()
    while lane.busy:
        pass
    assert lane.call(lambda: 1, 5) == 1


def test_what_waits_for_ever_is_stopped(lane: Lane) -> None:
    stopped = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    with pytest.raises(TimeoutError):
        asyncio.run(lane.wait(forever, 0.05))
    assert stopped.wait(5)
    assert lane.call(lambda: 1, 5) == 1


def test_posted_work_is_done_in_order_and_its_failures_are_told(lane: Lane) -> None:
    done: list[int] = []
    for n in range(50):
        lane.post(lambda n=n: done.append(n))  # type: ignore[misc]
    lane.post(fails)
    assert asyncio.run(lane.idle(5))
    assert done == list(range(50))
    assert [str(e) for e in lane.failures()] == ["no"]
    assert lane.failures() == ()


def test_too_much_posted_work_is_left_out_and_counted(lane: Lane) -> None:
    free = threading.Event()
    lane.post(free.wait)
    for _ in range(MOST_WAITING + 4):
        lane.post(lambda: None)
    assert lane.left_out == 5
    assert not asyncio.run(lane.idle(0.05))
    free.set()


def test_a_lane_that_was_never_used_closes() -> None:
    lane = Lane("unused")
    assert asyncio.run(lane.idle(1))
    lane.close()
