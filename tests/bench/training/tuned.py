#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tuned.py BENCH_TUNE [ROUNDS [NET [EPOCHS]]]: whole training jobs, the default spec's and the tuned one's in turns, from data to
model file with all trials of the tuner. The least of all rounds, by the wall and by the processors' time. A line of JSON on
standard output with every round's figures, the same in words on standard error."""
import json
import subprocess
import sys

TUNE_STEPS = "10"


def main():
    rounds, net, epochs = int((sys.argv[2:] or ["3"])[0]), (sys.argv[3:] or ["cnn64"])[0], (sys.argv[4:] or ["40"])[0]
    turns = []
    for _ in range(rounds):
        ran = subprocess.run([sys.argv[1], net, TUNE_STEPS, epochs], check=True, capture_output=True, text=True)
        turns.append({one["spec"]: one for one in map(json.loads, ran.stdout.splitlines())})
    ratio = {}
    for clock in ("wall", "work"):
        plain, tuned = (min(turn[spec][clock] for turn in turns) for spec in ("default", "tuned"))
        ratio[clock] = round(plain / tuned, 3)
        each = ", ".join(f"{turn['default'][clock] / turn['tuned'][clock]:.2f}" for turn in turns)
        words = f"{plain:.2f} s by default, {tuned:.2f} s tuned: {plain / tuned:.2f} times as fast (rounds: {each})"
        print(f"{net}, {clock}: {words}", file=sys.stderr)
    print(json.dumps({"net": net, "times_default": ratio, "rounds": turns}))


main()
