# SPDX-License-Identifier: Apache-2.0
"""tier.py - what tests/run.sh asks of CTest's lists: which targets the chosen tests need, and how long each label took.

usage: tier.py targets BUILD CTEST-ARG…     the ninja targets of the chosen tests, one per line; nothing when none needs one
       tier.py minutes BUILD JUNIT BUDGET TIER CTEST-ARG…
A label's minutes are the sum of its tests' times. Tests run beside each other, so the sums say what a label costs, not how long
the run took; a test with two labels counts in both. BUDGET is tests/budget.txt. minutes always ends with status 0: a slow
machine is no failure."""
import json, os, re, subprocess, sys, xml.etree.ElementTree as ET


def chosen(build, args):
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *args], capture_output=True, text=True, check=True).stdout
    return json.loads(out)["tests"]


def prop(test, name):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == name), None)


def targets(build, args):
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    programs = {m[1] for m in re.finditer(r"^tests/([^/\s:]+): C(XX)?_EXECUTABLE_LINKER", listed, re.M)}
    need = set()
    for test in chosen(build, args):
        if test["name"].startswith("unit_keys_leaks_"):
            need.add(test["name"].replace("_leaks_", "_test_"))
            continue
        # Several tests may be one program with an argument each: the longest name that begins theirs.
        own = [p for p in programs if test["name"] == p or test["name"].startswith(p + "_")]
        if own:
            need.add(max(own, key=len))
        elif not test["name"].startswith(("lint_", "builds_", "fuzz")) or test["name"] in ("lint_gen", "lint_schema"):
            need.add("programs")
    for target in sorted(need):                 # no line at all when scripts alone are chosen
        print(target)


def budgets(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words:
            rows[words[0]] = float(words[1])
    return rows


def minutes(build, junit, budget, tier, args):
    labels = {t["name"]: prop(t, "LABELS") or [] for t in chosen(build, args)}
    spent, count, slowest = {}, {}, []
    for case in ET.parse(junit).getroot().iter("testcase"):
        seconds = float(case.get("time") or 0)
        slowest.append((seconds, case.get("name")))
        for label in labels.get(case.get("name"), []):
            spent[label] = spent.get(label, 0) + seconds
            count[label] = count.get(label, 0) + 1
    limit = budgets(budget) if tier == "default" else {}
    print(f"\nMinutes by label (tier {tier}; sums, tests run beside each other):")
    over = []
    for label in sorted(spent, key=lambda x: -spent[x]):
        m, most = spent[label] / 60, limit.get(label)
        if most is not None and m > most:
            over.append(label)
        print(f"  {label:<12}{m:7.2f} min {count[label]:5d} tests" + (f"   budget {most:g}" if most is not None else "")
              + ("   OVER" if label in over else ""))
    print("  longest: " + ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(slowest, reverse=True)[:6]))
    if over:
        print(f"OVER BUDGET: {', '.join(over)} (tests/budget.txt). On a quiet machine that is a test to be mended or moved to --full.")
    if limit and (missing := sorted(set(spent) - set(limit))):
        print(f"no budget in tests/budget.txt: {', '.join(missing)}")


if __name__ == "__main__":
    if len(sys.argv) >= 3 and sys.argv[1] == "targets":
        targets(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) >= 6 and sys.argv[1] == "minutes" and os.path.exists(sys.argv[3]):
        minutes(*sys.argv[2:6], sys.argv[6:])
    else:
        raise SystemExit(__doc__)
