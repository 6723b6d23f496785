"""All benchmarks, one after the other: ``python -m benchmarks``."""

import subprocess
import sys

NAMES = ("download", "sharding", "evaluation_input", "dagster_share")

for name in NAMES:
    print(f"\n== {name}", flush=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
