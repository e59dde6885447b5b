"""Answers in work: stopped, left and failed at any point, they tell their followers of an end."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
import pytest

from chat.answers import Answer, Answers, Cancelled, Failed, HandedOver, State, Told, Withdrawn
from chat.contract import Done, Event, Text, Usage
from store.errors import InternalError, Unavailable

pytestmark = pytest.mark.anyio
DONE = Done("Yes.", [], True, Usage())


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Script:
    """Events of an answer that waits for `go_on` before its end; and what became of it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.go_on = anyio.Event()
        self.charging = anyio.Event()
        self.charged = False
        self.error = error
        self.state: State = "wanted"
        self.failed_as: list[State] = []
        self.store_fails: Exception | None = None

    async def events(self) -> AsyncGenerator[Event, None]:
        yield Text("Yes.")
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        with anyio.CancelScope(shield=True):
            self.charging.set()
            await anyio.sleep(0.05)
            self.charged = True
        yield DONE

    async def wanted(self) -> State:
        if self.store_fails is not None:
            raise self.store_fails
        return self.state

    async def on_failure(self, ended_as: State) -> None:
        self.failed_as.append(ended_as)
        if self.store_fails is not None:
            raise self.store_fails

    def start(self, answers: Answers, key: str = "one") -> Answer:
        return answers.start(key, self.events(), state=self.wanted, on_failure=self.on_failure, about={})


async def told(answer: Answer) -> list[Told]:
    with anyio.fail_after(10):
        return [numbered.event async for numbered in answer.follow()]


async def test_an_answer_is_followed_from_any_event_by_any_number() -> None:
    answers, script = Answers(), Script()
    answer = script.start(answers)
    async for numbered in answer.follow():
        assert numbered.event == Text("Yes.")
        break
    script.go_on.set()
    whole = await told(answer)
    assert (whole[0], whole[-1], script.charged) == (Text("Yes."), DONE, True)
    assert [numbered.number async for numbered in answer.follow(after=1)] == [2, 3]
    assert len([numbered async for numbered in answer.follow(after=99)]) == 3


async def test_an_answer_stopped_twice_tells_its_followers_once() -> None:
    answers, script = Answers(), Script()
    answer = script.start(answers)
    await anyio.sleep(0.01)
    answers.stop("one", "handed_over")
    answers.stop("one", "cancelled")
    assert (await told(answer))[1:] == [HandedOver()]
    assert script.failed_as == ["handed_over"]
    answers.stop("one", "cancelled")
    assert script.failed_as == ["handed_over"]


async def test_what_is_being_charged_is_charged_to_its_end() -> None:
    answers, script = Answers(), Script()
    answer = script.start(answers)
    script.go_on.set()
    await script.charging.wait()
    answers.stop("one", "cancelled")
    await told(answer)
    assert script.charged


@pytest.mark.parametrize("error", [Unavailable("Away.", retry_after_s=1), RuntimeError("a fault"), Withdrawn()])
async def test_followers_learn_of_an_end_whatever_fails(error: Exception) -> None:
    answers, script = Answers(), Script(error)
    script.store_fails = RuntimeError("the store is away")
    answer = script.start(answers)
    script.go_on.set()
    (last,) = (await told(answer))[1:]
    assert isinstance(last, Failed)
    if not isinstance(error, Withdrawn):
        assert isinstance(last.error, Unavailable if isinstance(error, Unavailable) else InternalError)


async def test_an_answer_that_is_wanted_no_more_when_it_is_kept_says_why() -> None:
    answers, script = Answers(), Script(Withdrawn())
    answer = script.start(answers)
    script.state = "cancelled"
    script.go_on.set()
    (last,) = (await told(answer))[1:]
    assert isinstance(last, Failed)
    assert isinstance(last.error, Cancelled)


async def test_what_failed_is_forgotten_and_what_was_answered_is_there_for_a_while() -> None:
    answers, first, second = Answers(), Script(Unavailable("Away.", retry_after_s=1)), Script()
    for script in (first, second):
        script.go_on.set()
        answer = script.start(answers)
        await answers.wait("one")
        await anyio.sleep(0)
        assert answers.get("one") is (answer if script is second else None)


async def test_a_later_try_is_not_forgotten_with_an_earlier_one() -> None:
    answers, first, second = Answers(), Script(), Script()
    earlier = first.start(answers)
    await anyio.sleep(0.01)
    later = second.start(answers)
    assert answers.get("one") is later
    answers.stop("one", "cancelled")
    await told(later)
    first.go_on.set()
    assert (await told(earlier))[-1] == DONE


async def test_it_is_known_for_how_long_nobody_follows() -> None:
    answers, script = Answers(), Script()
    answer = script.start(answers)
    follower = answer.follow()
    await anext(follower)
    await anyio.sleep(0.02)
    assert answer.unfollowed_s == 0
    await follower.aclose()
    await anyio.sleep(0.02)
    assert answer.unfollowed_s > 0
    await answers.aclose()
    assert isinstance((await told(answer))[-1], Failed)
