from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from ingest.children import (
    ChildDied,
    ChildError,
    ChildFailed,
    ChildOutOfMemory,
    ChildPool,
    ChildTimedOut,
    PoolClosed,
)
from store.errors import InvalidRequest
from tests.ingest import child_work
from tests.ingest.conftest import WAIT_S, wait_for_end
from tests.support.held import held

ROOT = Path(__file__).parents[2]
MIB = 1024 * 1024


def test_children_start_with_the_first_work_and_serve_the_next(pool: ChildPool) -> None:
    assert pool.child_pids == []
    assert pool.run(child_work.add, 2, 3) == 5
    first = pool.run(child_work.pid)
    assert pool.child_pids == [first]
    assert pool.run(child_work.pid) == first != os.getpid()


def test_how_long_work_waits_for_a_place_is_counted(threads: ThreadPoolExecutor) -> None:
    with ChildPool("waited for", 1, WAIT_S) as pool:
        works = [threads.submit(pool.run, time.sleep, 0.3) for _ in range(2)]
        for work in works:
            work.result()
    waits = {
        name: REGISTRY.get_sample_value(f"parley_child_wait_seconds_{name}", {"pool": "waited for"})
        for name in ("count", "sum")
    }
    assert waits["count"] == 2
    assert 0.2 < (waits["sum"] or 0.0) < WAIT_S


def test_large_arguments_and_results_pass_unharmed(pool: ChildPool) -> None:
    data = os.urandom(20 * MIB)
    assert pool.run(child_work.echo, data) == data


def test_a_child_at_rest_gives_back_what_it_freed(pool: ChildPool) -> None:
    before = held(pool.run(child_work.pid)).memory_mb
    at_work = pool.run(child_work.hold_last, 200)
    assert at_work > before + 150, "it is given back unasked, and the test shows nothing"
    (child,) = pool.child_pids
    deadline = time.monotonic() + WAIT_S
    while held(child).memory_mb > before + 20:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert pool.run(child_work.pid) == child


def test_all_places_work_at_the_same_time_and_no_more(
    pool: ChildPool, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    path = str(tmp_path / "meeting")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        server.settimeout(WAIT_S)
        works = [threads.submit(pool.run, child_work.meet, path) for _ in range(4)]
        first, second = server.accept()[0], server.accept()[0]
        assert len(pool.child_pids) == 2
        visitors = [first, second]
        for visitor in visitors:
            visitor.sendall(b"go")
        visitors += [server.accept()[0] for _ in range(2)]
        for visitor in visitors[2:]:
            visitor.sendall(b"go")
        assert [work.result(WAIT_S) for work in works] == [b"go"] * 4
        for visitor in visitors:
            visitor.close()
    assert len(pool.child_pids) == 2


@pytest.mark.parametrize(
    ("function", "sign"),
    [(child_work.kill_self, "SIGKILL"), (child_work.crash, "SIGSEGV"), (child_work.leave, "exit status 3")],
)
def test_a_child_that_dies_fails_its_own_work_and_says_how(
    pool: ChildPool, function: Callable[..., object], sign: str, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    path = str(tmp_path / "neighbour")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        server.settimeout(WAIT_S)
        neighbour = threads.submit(pool.run, child_work.meet, path)
        visitor, _ = server.accept()
        with pytest.raises(ChildDied, match=sign):
            pool.run(function)
        visitor.sendall(b"unharmed")
        assert neighbour.result(WAIT_S) == b"unharmed"
        visitor.close()
    assert pool.run(child_work.add, 1, 1) == 2


def test_a_child_killed_while_it_answers_harms_no_other(threads: ThreadPoolExecutor) -> None:
    data = bytes(8 * MIB)
    with ChildPool("test", places=3, timeout_s=WAIT_S) as pool:
        works = [threads.submit(pool.run, child_work.echo, data) for _ in range(40)]
        kills = 0
        for work in works[::8]:
            work.exception(WAIT_S)
            for pid in pool.child_pids[:1]:
                os.kill(pid, signal.SIGKILL)
                kills += 1
        errors = [error for work in works if (error := work.exception(WAIT_S))]
        assert all(type(error) is ChildDied for error in errors)
        assert len(errors) <= kills
        assert pool.run(child_work.echo, data) == data


def test_an_idle_child_that_was_killed_is_replaced_unnoticed(pool: ChildPool) -> None:
    pid = pool.run(child_work.pid)
    handle = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert wait_for_end(handle)
    assert pool.run(child_work.pid) != pid


@pytest.mark.parametrize("function", [child_work.say_and_hang, child_work.hang_in_native_code])
def test_work_over_its_time_is_killed_with_all_it_started(
    function: Callable[..., object], fifo: Path, threads: ThreadPoolExecutor
) -> None:
    with ChildPool("test", places=1, timeout_s=3) as pool:
        work = threads.submit(pool.run, function, str(fifo))
        handles = [os.pidfd_open(int(pid)) for pid in fifo.read_text().split()]
        with pytest.raises(ChildTimedOut, match="3 s"):
            work.result(WAIT_S)
        assert all(wait_for_end(handle) for handle in handles)
        assert pool.run(child_work.add, 1, 2) == 3


def test_a_stopped_child_times_out_too(threads: ThreadPoolExecutor) -> None:
    with ChildPool("test", places=1, timeout_s=2) as pool:
        pid = pool.run(child_work.pid)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(ChildTimedOut):
            pool.run(child_work.echo, bytes(8 * MIB))


def test_what_others_take_of_its_core_is_not_its_time() -> None:
    if not Path("/proc/self/schedstat").is_file():
        pytest.skip("this system does not tell who stood ready without a core")
    core = min(os.sched_getaffinity(0))
    busy = ["nice", "-n", "10", "taskset", "--cpu-list", str(core), sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(busy) for _ in range(4)]
    try:
        with ChildPool("test", places=1, timeout_s=3) as pool:
            assert pool.run(child_work.work_on_core, core, 1.0) > 3
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_more_memory_than_allowed_is_an_error_of_the_work() -> None:
    with ChildPool("test", places=1, timeout_s=WAIT_S, memory_bytes=512 * MIB) as pool:
        assert pool.run(child_work.take_memory, 64 * MIB) == 64 * MIB
        with pytest.raises(ChildOutOfMemory):
            pool.run(child_work.take_memory, 1024 * MIB)
        assert pool.run(child_work.add, 1, 1) == 2


@pytest.mark.parametrize(
    ("function", "kind"), [(child_work.refuse_memory, ChildOutOfMemory), (child_work.import_by_halves, ImportError)]
)
def test_a_child_that_cannot_go_on_is_not_used_again(
    pool: ChildPool, function: Callable[..., object], kind: type[Exception]
) -> None:
    first = pool.run(child_work.pid)
    with pytest.raises(kind):
        pool.run(function)
    assert pool.run(child_work.pid) != first


def test_errors_of_the_house_come_back_as_they_were_raised(pool: ChildPool) -> None:
    with pytest.raises(InvalidRequest, match="the file holds no audio") as caught:
        pool.run(child_work.refuse)
    error = caught.value
    assert (error.message, error.code, error.param, error.retry_after_s, error.status) == (
        "the file holds no audio",
        "no_audio",
        "file",
        7,
        400,
    )


def test_other_errors_come_back_with_the_traceback_of_the_child(pool: ChildPool) -> None:
    with pytest.raises(ValueError, match="wrong value") as caught:
        pool.run(child_work.fail)
    assert "in fail" in caught.value.__notes__[0]


@pytest.mark.parametrize("function", [child_work.raise_unpicklable, child_work.return_unpicklable])
def test_what_cannot_be_sent_back_is_named(pool: ChildPool, function: Callable[..., object]) -> None:
    with pytest.raises(ChildFailed, match="pickle"):
        pool.run(function)
    assert pool.run(child_work.add, 1, 1) == 2


def test_named_arguments_come_as_a_partial(pool: ChildPool) -> None:
    assert pool.run(partial(child_work.add, second=2), 1) == 3


@pytest.mark.parametrize("function", [lambda: 1, partial(lambda: 1)])
def test_a_function_without_an_importable_name_is_refused(pool: ChildPool, function: Callable[[], int]) -> None:
    with pytest.raises(TypeError, match="by name"):
        pool.run(function)


def test_a_child_inherits_no_socket_and_does_not_import_the_main_program() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ChildPool("test", 1, WAIT_S, nice=3) as pool:
        listening.set_inheritable(True)
        found = pool.run(child_work.surroundings)
    assert found["sockets"] == 1
    assert found["main_file"] is None
    assert found["nice"] == min(os.nice(0) + 3, 19)
    assert found["interrupt"] == signal.SIG_IGN
    assert found["group"] == found["pid"]


def test_unused_children_are_let_go() -> None:
    with ChildPool("test", places=1, timeout_s=WAIT_S, idle_s=0.05) as pool:
        handle = os.pidfd_open(pool.run(child_work.pid))
        assert wait_for_end(handle)
        assert pool.run(child_work.add, 1, 1) == 2


def test_close_ends_running_work_and_those_that_wait(fifo: Path, threads: ThreadPoolExecutor) -> None:
    pool = ChildPool("test", places=1, timeout_s=WAIT_S)
    works: list[Future[None]] = [threads.submit(pool.run, child_work.say_and_hang, str(fifo))]
    handles = [os.pidfd_open(int(pid)) for pid in fifo.read_text().split()]
    works += [threads.submit(pool.run, child_work.say_and_hang, str(fifo)) for _ in range(3)]
    pool.close()
    for work in works:
        with pytest.raises(PoolClosed):
            work.result(WAIT_S)
    assert all(wait_for_end(handle) for handle in handles)
    assert pool.child_pids == []
    with pytest.raises(PoolClosed):
        pool.run(child_work.pid)
    pool.close()


def test_descriptors_and_threads_do_not_grow_with_the_work(pool: ChildPool) -> None:
    def held() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    for _ in range(2):
        with pytest.raises(ChildError):
            pool.run(child_work.kill_self)
    before = held()
    for _ in range(5):
        with pytest.raises(ChildError):
            pool.run(child_work.kill_self)
    assert held() == before


# Tests may run in processes that ignore Ctrl-C, and would hand that on.
SERVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from ingest.children import ChildPool
from tests.ingest import child_work
from tests.ingest.conftest import WAIT_S, wait_for_end
from tests.support.held import held
ChildPool("test", 1, 600.0).run(getattr(child_work, sys.argv[1]), sys.argv[2])
"""


@pytest.mark.parametrize("function", [child_work.say_and_hang, child_work.hang_in_native_code])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_child_outlives_the_server(function: Callable[..., object], end: signal.Signals, fifo: Path) -> None:
    name = function.__name__
    server = subprocess.Popen([sys.executable, "-c", SERVER, name, str(fifo)], cwd=ROOT, stderr=subprocess.DEVNULL)
    handles = [os.pidfd_open(int(pid)) for pid in fifo.read_text().split()]
    server.send_signal(end)
    assert all(wait_for_end(handle) for handle in handles)
    server.wait(WAIT_S)
