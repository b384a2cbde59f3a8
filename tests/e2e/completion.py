#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py - the completion of `falaj` as people have it: a real zsh with a Tab pressed in a terminal, and a real fish.

Commands, flags and what `falaj __complete` says (values of a flag), without a server. zsh by both ways that the scripts name:
sourced, and as the file _falaj in a folder of $fpath, where the very first Tab must complete.
"""
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

BIN = os.environ["FALAJ_BIN"]
LIMIT_S = 60
# What is typed, and what must be seen: a whole word, or several to choose from.
CASES = [
    ("falaj job li", ["list"]),
    ("falaj job list --outp", ["--output"]),
    ("falaj job list -o js", ["json", "jsonpath="]),
    ("falaj compl", ["completion"]),
]


class Zsh:
    """An interactive zsh without start files, in a terminal of its own."""

    def __init__(self, env: dict[str, str], load: str):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], env)
        self.seen = ""
        # No colours, no brackets around pastes; the mark is written so that its echo is not it.
        self.say("PS1= PROMPT_EOL_MARK= zle_highlight=(none); unset zle_bracketed_paste; unsetopt list_ambiguous; "
                 f"autoload -Uz compinit; {load}; print RE''ADY\n")
        self.until(["READY"])

    def say(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def until(self, words: list[str]) -> None:
        end = time.monotonic() + LIMIT_S
        missing = words
        while missing:
            if time.monotonic() > end:
                sys.exit(f"completion: zsh does not show {missing} but {self.seen[-600:]!r}")
            if select.select([self.fd], [], [], 1)[0]:
                self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(self.fd, 65536).decode(errors="replace"))
            missing = [w for w in words if not re.search(rf"(?<![\w-]){re.escape(w)}(?![\w-])", self.seen)]

    def tab(self, line: str, words: list[str]) -> None:
        self.seen = ""
        self.say(f"{line}\t")
        self.until(words)
        self.say("\x15")        # the line is not run

    def close(self) -> None:
        os.close(self.fd)       # a shell whose terminal is gone ends
        os.waitpid(self.pid, 0)


def zsh(env: dict[str, str], load: str, cases: list[tuple[str, list[str]]]) -> None:
    shell = Zsh(env, load)
    for line, words in cases:
        shell.tab(line, words)
    shell.close()


def fish(env: dict[str, str]) -> None:
    for line, words in CASES:
        script = f"{BIN}/falaj completion fish | source; complete -C '{line}'"
        out = subprocess.run(["fish", "--no-config", "-c", script], env=env, capture_output=True, text=True, timeout=LIMIT_S)
        got = [found.split("\t")[0] for found in out.stdout.splitlines()]
        if out.returncode or out.stderr or not set(words) <= set(got):
            sys.exit(f"completion: fish shows {got} for {line!r}, not {words}; {out.stderr}")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="falaj-completion-") as home:
        env = {"HOME": home, "PATH": f"{BIN}:/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8", "FALAJ_URL": "http://127.0.0.1:1"}
        folder = os.path.join(home, "functions")
        os.mkdir(folder)
        script = subprocess.run([f"{BIN}/falaj", "completion", "zsh"], env=env, check=True, capture_output=True, text=True).stdout
        with open(os.path.join(folder, "_falaj"), "w") as file:
            file.write(script)
        zsh(env, "compinit -u -D; source <(falaj completion zsh)", CASES)
        for case in CASES:      # a shell each: its first Tab
            zsh(env, f"fpath=({folder} $fpath); compinit -u -D", [case])
        fish(env)
    print(f"completion: {len(CASES)} lines in zsh, sourced and by $fpath, and in fish")


main()
