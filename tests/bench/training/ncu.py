# SPDX-License-Identifier: Apache-2.0
"""ncu.py FILE - the raw CSV page of Nsight Compute as a short table: time of each launch, and what it is limited by."""
import csv
import sys

COLUMNS = [  # heading, the metric's name up to its rollup, scale
    ("us", "gpu__time_duration.sum", None),
    ("sm%", "sm__throughput.avg.pct_of_peak_sustained_elapsed", None),
    ("dram%", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", None),
    ("l2%", "lts__throughput.avg.pct_of_peak_sustained_elapsed", None),
    ("l1%", "l1tex__throughput.avg.pct_of_peak_sustained_active", None),
    ("warps%", "sm__warps_active.avg.pct_of_peak_sustained_active", None),
    ("regs", "launch__registers_per_thread", None),
    ("blocks", "launch__grid_size", None),
    ("threads", "launch__block_size", None),
    ("shared", "launch__shared_mem_per_block", None),
]
STALL = "smsp__average_warps_issue_stalled_"


def rows(path):
    with open(path, newline="") as f:
        lines = [line for line in f if line.startswith('"')]
    return list(csv.DictReader(lines))


def number(text):
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None


def stalls(row):
    """The two longest waits of a warp, in cycles an instruction."""
    found = {}
    for key, text in row.items():
        value = number(text)
        if key and key.startswith(STALL) and "_ratio" in key and "not_issued" not in key and value:
            found[key[len(STALL):].split("_per_")[0]] = value
    best = sorted(found, key=found.get, reverse=True)[:2]
    return " ".join(f"{name} {found[name]:.1f}" for name in best)


def main():
    every = rows(sys.argv[1])
    units = every[0] if every and not number(every[0].get("ID")) and every[0].get("ID") != "0" else {}
    print("kernel".ljust(34), *(name.rjust(8) for name, _, _ in COLUMNS), " waits for")
    for row in every:
        if row is units:
            continue
        cells = []
        for _, metric, _ in COLUMNS:
            value, unit = number(row.get(metric)), (units.get(metric) or "")
            if value is not None and metric.startswith("gpu__time"):
                value *= {"nsecond": 1e-3, "ns": 1e-3, "msecond": 1e3, "ms": 1e3, "second": 1e6, "s": 1e6}.get(unit, 1)
            cells.append(("-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}").rjust(8))
        print((row.get("Kernel Name") or "?")[:34].ljust(34), *cells, " " + stalls(row))


main()
