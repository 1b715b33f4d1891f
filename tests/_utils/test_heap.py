import platform
import subprocess
import sys

import pytest

MEASURE = """
import numpy as np
from eigsearch._utils.heap import keep_freed_memory

def returned():
    array = np.ones(3 << 20)  # 24 MB
    held = resident()
    del array
    return held - resident()

def resident():
    with open("/proc/self/statm") as fields:
        return int(fields.read().split()[1]) * 4096

before = returned()
keep_freed_memory()
print(before, returned())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators ignore it")
@pytest.mark.skipif(sys.platform != "linux", reason="reads the resident memory from /proc")
def test_freed_arrays_stay_in_the_process():
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True, timeout=600
    )
    before, after = map(int, ran.stdout.split())
    assert before > 20 << 20
    assert after < 4 << 20
