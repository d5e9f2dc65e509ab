"""Forks, threads, signals, standard output, memory."""

import multiprocessing
import resource
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import scipy.optimize

import coalesce


def run(text, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60, **options)


def test_fork_is_refused():
    done = run("""
        import os, coalesce
        coalesce.linear_sum_assignment([[1]])
        child = os.fork()
        if child == 0:
            failed = 0
            for call in (lambda: coalesce.linear_sum_assignment([[1]]), lambda: coalesce.solve_qubo([[1]]), coalesce.devices):
                try:
                    call()
                except coalesce.ForkedError:
                    failed += 1
            os._exit(10 + failed)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 13
        print(coalesce.linear_sum_assignment([[1]])[1])
    """)
    assert done.returncode == 0 and done.stdout == "[0]\n", done.stderr


def test_the_import_loads_little():
    done = run("""
        import sys, time
        began = time.process_time()
        import coalesce
        assert time.process_time() - began < 0.1
        assert not {"numpy", "dimod", "ctypes", "coalesce._library"} & set(sys.modules), sorted(sys.modules)
        assert set(coalesce.__all__) <= set(dir(coalesce))
        for name in coalesce.__all__:
            getattr(coalesce, name)
        coalesce.no_such_name
    """)
    assert done.returncode == 1 and done.stderr.endswith("AttributeError: module 'coalesce' has no attribute 'no_such_name'\n"), done.stderr


def test_a_parent_that_only_imported_may_fork():
    done = run("""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from coalesce import linear_sum_assignment, solve_assignment, solve_qubo
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            print(*(cols.tolist() for _, cols in pool.map(linear_sum_assignment, [[[1, 2], [1, 3]], [[3, 1], [1, 3]]])), *(r.value for r in pool.map(solve_qubo, [[[-1]]])))
    """)
    assert done.returncode == 0 and done.stdout == "[1, 0] [1, 0] -1.0\n", done.stderr


def test_a_child_alone_may_import_it():
    done = run("""
        import os
        child = os.fork()
        if child == 0:
            import coalesce
            os._exit(int(coalesce.linear_sum_assignment([[5, 1], [1, 5]])[1].tolist() == [1, 0]))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        import coalesce
        print(coalesce.linear_sum_assignment([[1]])[1])
    """)
    assert done.returncode == 0 and done.stdout == "[0]\n", done.stderr


def test_a_pool_of_forks_says_why_it_fails():
    done = run("""
        import multiprocessing, coalesce
        coalesce.linear_sum_assignment([[1]])
        with multiprocessing.get_context("fork").Pool(2) as pool:
            try:
                pool.map(coalesce.linear_sum_assignment, [[[1]], [[2]]])
            except coalesce.ForkedError as e:
                print("spawn" in str(e))
    """)
    assert done.returncode == 0 and done.stdout == "True\n", done.stderr


def test_two_copies_in_a_process(tmp_path):
    done = run("""
        import ctypes, shutil, sys, threading
        import coalesce
        from coalesce import _library as lib
        other = shutil.copy(lib.LIB._name, sys.argv[1])
        second = ctypes.CDLL(other)
        second.coalesce_devices.restype = ctypes.c_int64
        def work():
            for _ in range(200):
                assert coalesce.linear_sum_assignment([[4, 1], [2, 9]])[1].tolist() == [1, 0]
                assert second.coalesce_devices(None, ctypes.c_int64(0)) > 0
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print("both")
    """.replace("sys.argv[1]", repr(str(tmp_path / "other.so"))))
    assert done.returncode == 0 and done.stdout == "both\n", done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_methods_of_starting(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(coalesce.linear_sum_assignment, ([[3, 1], [1, 3]],))[1].tolist() == [1, 0]


@pytest.mark.parametrize("problem", ["qubo", "assignment", "csg", "auction", "points"])
def test_interrupt(problem):
    done = run("""
        import numpy as np, coalesce, os, signal, sys, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
        a = np.random.default_rng(0).integers(-100, 101, (600, 600))
        struck = []
        def strike():
            struck.append(time.time())
            os.kill(os.getpid(), signal.SIGINT)
        def once(_):  # in the middle of the solve, however fast the machine is
            if not struck:
                strike()
        if sys.argv[1] == "assignment":
            threading.Timer(1.5, strike).start()
        try:
            if sys.argv[1] == "qubo":
                r = coalesce.solve_qubo(a, time_limit=50, progress=once)
            elif sys.argv[1] == "csg":
                r = coalesce.solve_csg(np.random.default_rng(0).random(1 << 23), algorithm="apart", progress=once)
            elif sys.argv[1] == "auction":
                rng = np.random.default_rng(0)
                r = coalesce.solve_auction([(int(rng.integers(50, 150)), rng.choice(300, 5, replace=False).tolist()) for _ in range(3000)], progress=once)
            elif sys.argv[1] == "points":
                r = coalesce.solve_assignment(coalesce.Points(*np.random.default_rng(0).random((2, 60000, 2))), device="host", progress=once)
            else:
                while True:
                    coalesce.linear_sum_assignment(np.random.random((600, 600)))
            assert r.interrupted and r.value is not None and not r.proven, r
        except KeyboardInterrupt:  # pairs alone cannot say that they were found too early
            assert sys.argv[1] == "assignment"
        took = time.time() - struck[0]
        assert took < 8, took
        print("interrupted")
    """.replace("sys.argv[1]", repr(problem)))
    assert done.returncode == 0 and done.stdout == "interrupted\n", done.stderr


def test_nothing_is_printed():
    done = run("""
        import coalesce
        coalesce.linear_sum_assignment([[1, 2], [3, 4]])
        coalesce.solve_qubo([[1, -2], [0, 1]])
        coalesce.solve_csg([0, 1])
        coalesce.solve_auction([(1, ["x"])])
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_threads():
    rng = np.random.default_rng(7)
    matrices = [rng.random(rng.integers(1, 60, 2)) for _ in range(400)]
    expected = [scipy.optimize.linear_sum_assignment(a)[1].tolist() for a in matrices]
    wrong = []

    def work(first):
        for k in range(first, len(matrices), 8):
            if coalesce.linear_sum_assignment(matrices[k])[1].tolist() != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_the_gil_is_released():
    turns = 0
    ended = threading.Event()

    def count():
        nonlocal turns
        while not ended.wait(0.005):
            turns += 1

    t = threading.Thread(target=count)
    t.start()
    coalesce.solve_qubo(np.random.default_rng(8).integers(-100, 101, (300, 300)), time_limit=1)
    ended.set()
    t.join()
    assert turns > 10


def held():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def test_memory_does_not_grow():
    a = np.random.default_rng(9).random((4, 4))
    bad, many = np.full((2, 2), np.inf), np.random.default_rng(9).random((5, 30, 30))

    def calls(n):
        for k in range(n):
            coalesce.linear_sum_assignment(a)
            if k % 10 == 0:
                try:
                    coalesce.linear_sum_assignment(bad)
                except ValueError:
                    pass
            if k % 100 == 0:
                coalesce.solve_assignment(a)
                coalesce.linear_sum_assignment(many)
                coalesce.solve_assignment(a, time_limit=100)  # a job
                coalesce.solve_assignment(a, supply=2, capacity=3)

    calls(20_000)
    before = held()
    calls(100_000)
    assert held() - before < 8 << 20


