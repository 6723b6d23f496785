"""All benchmarks, one after the other: ``python -m benchmarks [--peers FOLDER]``.

FOLDER is the scratch folder of the corruption packages that rendering is measured against; without
it the rendering is measured alone.
"""

import argparse
import subprocess
import sys

NAMES = (
    *("download", "sharding", "evaluation_input", "prediction_rows", "dagster_share", "bootstrap"),
    *("render", "render_scaling", "render_gpu"),
    *("evaluation", "evaluation_gpu"),
)
WITH_PEERS = ("render", "render_sequences")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--peers")
peers = parser.parse_args().peers
for name in (*NAMES, *(("render_sequences",) if peers else ())):
    print(f"\n== {name}", flush=True)
    arguments = ["--peers", peers] if peers and name in WITH_PEERS else []
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=True)
