"""The same work on a Dask cluster, whose workers have neither the course nor its gradebook."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pool_cases
import pytest

from tflabs.course.layout import Course

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
COUNT = 16
pytestmark = [pytest.mark.xdist_group("pool-cluster"), pytest.mark.timeout(400)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Any]:
    """Two workers of one thread each, in a folder of their own."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(host="127.0.0.1", local_directory=str(tmp_path / "dask"), **options) as cluster:
        yield cluster


def test_the_gradebook_is_the_same_though_a_worker_is_killed(tmp_path: Path, cluster: Any) -> None:
    here: Course = pool_cases.prepared(tmp_path / "here", COUNT)
    there = pool_cases.copied(here, tmp_path / "there")
    pool_cases.grade(here, "--jobs", "2")
    grader = subprocess.Popen(
        pool_cases.grade_command("--scheduler", cluster.scheduler_address, "--json"),
        env=pool_cases.environment(there),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    graded = there.root / "autograded"
    while grader.poll() is None and not (graded.exists() and len(list(graded.iterdir())) >= 2):
        time.sleep(0.01)
    assert grader.poll() is None
    os.kill(cluster.workers[0].process.pid, 9)  # its nanny starts another
    out, errors = grader.communicate()
    assert grader.returncode == 0, errors
    assert json.loads(out)["graded"] == COUNT
    assert pool_cases.rows(there) == pool_cases.rows(here)
    assert pool_cases.texts(there) == pool_cases.texts(here)
