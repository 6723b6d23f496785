"""All benchmarks, one after the other: ``python -m benchmarks [--peers FOLDER]``.

FOLDER is the scratch folder of the packages that rendering and reading of videos are measured
against; without it rendering is measured alone, and reading is not.
"""

import argparse
import subprocess
import sys

NAMES = (
    *("download", "sharding", "evaluation_input", "prediction_rows", "dagster_share", "bootstrap"),
    *("render", "render_scaling", "render_gpu"),
    *("evaluation", "evaluation_gpu"),
    *("video_mining", "review_events", "review_page", "pm_k_sql", "detection_pm_k"),
)
ONLY_WITH_PEERS = ("render_sequences", "video_exactness", "video_decode")
WITH_PEERS = ("render", *ONLY_WITH_PEERS)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--peers")
peers = parser.parse_args().peers
for name in (*NAMES, *(ONLY_WITH_PEERS if peers else ())):
    print(f"\n== {name}", flush=True)
    arguments = ["--peers", peers] if peers and name in WITH_PEERS else []
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=True)
