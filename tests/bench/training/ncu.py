# SPDX-License-Identifier: Apache-2.0
"""ncu.py FILE - the raw CSV page of Nsight Compute as a short table: time of each launch, and what it is limited by."""
import csv
import sys

COLUMNS = [  # heading, the metric
    ("us", "gpu__time_duration.sum"),
    ("sm%", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
    ("tensor%", "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active.avg.pct_of_peak_sustained_elapsed",),
    ("dram%", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
    ("l2%", "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
    ("l1%", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
    ("warps%", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("regs", "launch__registers_per_thread"),
    ("blocks", "launch__grid_size"),
    ("threads", "launch__block_size"),
    ("shared", "launch__shared_mem_per_block"),
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
        if key and key.startswith(STALL) and key.endswith("_per_issue_active.ratio") and "selected" not in key and value:
            found[key[len(STALL):].split("_per_")[0]] = value
    best = sorted(found, key=found.get, reverse=True)[:2]
    return " ".join(f"{name} {found[name]:.1f}" for name in best)


def main():
    every = rows(sys.argv[1])
    units = every[0] if every and not number(every[0].get("ID")) and every[0].get("ID") != "0" else {}
    print("kernel".ljust(34), *(name.rjust(8) for name, _ in COLUMNS), " waits for")
    for row in every:
        if row is units:
            continue
        cells = []
        for _, metric in COLUMNS:
            value, unit = number(row.get(metric)), (units.get(metric) or "")
            if value is not None and metric.startswith("gpu__time"):
                value *= {"nsecond": 1e-3, "ns": 1e-3, "msecond": 1e3, "ms": 1e3, "second": 1e6, "s": 1e6}.get(unit, 1)
            cells.append(("-" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}").rjust(8))
        print((row.get("Kernel Name") or "?")[:34].ljust(34), *cells, " " + stalls(row))


main()
