#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unit.py - leases under the worker's unit as a real systemd enforces it: system calls, namespaces, devices, /proc, mounts.

usage: tests/e2e/unit.py (FALAJ_BIN: falaj-worker, its tests in ../tests; open to the account nobody)

Tests of leases run as the unit's command, without and with the drop-ins of deploy/systemd: trainings in every case, programs of
tenants where the drop-in permits them, and where it does not the machine says so. Needs root and systemd."""
import os, pathlib, re, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
from systemd_unit import lacks, under

BIN = pathlib.Path(os.environ["FALAJ_BIN"]).resolve()
UNIT = ROOT / "debian/falaj-worker.falaj-worker.service"
USUAL, PROGRAMS = ["executor"], ["programs", "type_run", "run_image", "gang_net"]
CASES = [([], USUAL), (["accounts"], USUAL), (["gpus"], USUAL), (["programs"], USUAL + PROGRAMS),
         (["accounts", "gpus", "programs"], USUAL + PROGRAMS)]
TESTS = BIN.parent / "tests/unit_workers_lease_test_"
BOX = ("RestrictN", "SystemC", "ProtectH", "ProtectK", "RestrictA", "RestrictS")     # the rest is tried by itself
WRITE_AND_RUN = "/usr/bin/python3 -c 'import mmap; mmap.mmap(-1, 4096, prot=7)'"


def run(names, command, own=()):
    files = [*(ROOT / f"deploy/systemd/falaj-worker-{name}.conf" for name in names), *own]
    # no ptrace under the unit, by which the leak sanitizer looks; the tests' folders lie in the unit's own /tmp
    env = f"FALAJ_BIN={BIN} ASAN_OPTIONS=detect_leaks=0"
    return under(UNIT, files, f"export {env}; {command}", more=f"ReadWritePaths=\nWorkingDirectory={ROOT}", timeout=900)


def lease_test(names, test):
    return run(names, f"{TESTS}{test} 2>&1")


def each_line_is_needed():
    """A machine whose drop-in lacks one line says what it lacks: no job finds out."""
    text = (ROOT / "deploy/systemd/falaj-worker-programs.conf").read_text()
    for line in text.splitlines():
        if line.startswith(BOX):
            with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
                f.write(text.replace(f"{line}\n", ""))
                f.flush()
                os.chmod(f.name, 0o644)
                status, said = run([], f"{TESTS}programs 2>&1", [f.name])
            told = re.search(r'event=worker.programs lacks="([^"]*)"', said)
            assert status and told, f"without {line}:\n{said[-3000:]}"
            print(f"unit.py: without {line}: {told[1]}", flush=True)


def main():
    if lacks():
        sys.exit(f"unit.py: this machine cannot try units: {lacks()}")
    for names, tests in CASES:
        for test in tests:
            status, said = lease_test(names, test)
            assert status == 0 and "SKIPPED" not in said, f"{test} under {names}:\n{said[-3000:]}"
        status, said = run(names, WRITE_AND_RUN)
        assert (status == 0) == ("programs" in names or "gpus" in names), said      # PyTorch writes code and runs it
        if "programs" not in names:
            status, said = lease_test(names, "programs")
            assert status and 'event=worker.programs lacks="' in said, said
        print(f"unit.py: falaj-worker.service with {', '.join(names) or 'no drop-in'}: {', '.join(tests)}", flush=True)
    each_line_is_needed()


if __name__ == "__main__":
    main()
