# SPDX-License-Identifier: Apache-2.0
"""operators.py - every place of a C file where a mutant can be made, and what it then reads.

Pure text: comments, preprocessor lines, logs and assertions are left alone, and so are numbers that are sizes of buffers, since one byte
more changes nothing that anybody promised. Strings are left alone but for SQL, which is broken only when databases are there."""
import collections, functools, json, re, subprocess

Mutant = collections.namedtuple("Mutant", "file line column old new function what")

SWAP = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+", "+=": "-=", "-=": "+=",
        "true": "false", "false": "true", "&": "|", "|": "&"}
TOKEN = re.compile(r"(?<![<>=!&|+\-*/%^])(<=|>=|==|!=|&&|\|\||\+=|-=|<|>|\+|-|&|\|)(?= )|\b(true|false)\b|\b(\d+)\b(?![\w.\"])")
QUIET = re.compile(r"\b(ASSERT|log_\w+|LOG\w*|static_assert|_Static_assert|BUF|arena_new|print_message)\b|^\s*(case|default)\b|^\s*#")
STATEMENT = re.compile(r"^(\s+)((?:\w+(?:->|\.))*\w+\(.*\);)$|^(\s+)([\w\->.\[\]*]+ [+\-|&]?= [^;{]+;)$")
SQL_TOKEN = re.compile(r" (<=|>=|<>|=|<|>|AND|OR|IS NOT NULL|IS NULL|NOT EXISTS|EXISTS|\+|-) ?")
SQL_SWAP = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "AND": "OR", "OR": "AND", "IS NULL": "IS NOT NULL",
            "IS NOT NULL": "IS NULL", "NOT EXISTS": "EXISTS", "EXISTS": "NOT EXISTS", "+": "-", "-": "+"}


@functools.cache
def functions_of_all(paths):
    """{file: [(first line, last line, name)]}."""
    said = subprocess.run(["ctags", "--output-format=json", "--fields=+ne", "--kinds-C=f", "-o", "-", "-L", "-"], capture_output=True,
                          text=True, check=True, input="\n".join(paths)).stdout
    found = {path: [] for path in paths}
    for r in map(json.loads, said.splitlines()):
        if "end" in r:
            found[r["path"]].append((r["line"], r["end"], r["name"]))
    return {path: sorted(rows) for path, rows in found.items()}


def blank(text):
    """The text with comments and what stands in quotes turned into spaces, and the pieces that stood in double quotes: [(from, to)]."""
    out, strings = list(text), []
    for m in re.finditer(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", text, re.S):
        if m[0][0] == '"':
            strings.append((m.start() + 1, m.end() - 1))
        for i in range(m.start(), m.end()):
            if text[i] != "\n":
                out[i] = " "
    return "".join(out), strings


def of_line(bare, line):
    """(column, old, new, what) of one line without its comments and strings."""
    if QUIET.search(bare):
        return
    for m in TOKEN.finditer(bare):
        token = m[0]
        if m[3]:
            before = bare[:m.start()].rstrip()
            if before.endswith("[") or int(m[3]) >= 64 or re.search(r"\benum\b", bare):
                continue
            yield m.start(), token, {"0": "1", "1": "0"}.get(token, str(int(token) + 1)), "number"
        elif token in ("&", "-", "+", "<", ">") and not bare[:m.start()].endswith(" "):
            continue
        else:
            yield m.start(), token, SWAP[token], "operator"
    m = re.match(r"^(\s*(?:\} else )?if )\((.*)\)( \{)?$", bare)
    if m and bare.count("(") == bare.count(")"):
        begin = len(m[1])
        end = begin + len(m[2]) + 2
        yield begin, line[begin:end], f"(!{line[begin:end]})", "condition"
    m = re.match(r"^(\s+TRY)\((.*)\);$", bare)
    if m and bare.count("(") == bare.count(")"):
        old = line[len(m[1]) - 3:]
        yield len(m[1]) - 3, old, f"if ({old[4:-2]}) {{}}", "error ignored"
        return
    m = STATEMENT.match(bare)
    if m and bare.count("(") == bare.count(")") and "return" not in bare and not re.search(r"\b(free|release|clear|close|unlock|lock|FAIL|va_\w+)\w*\(", bare):
        old = line.strip()
        yield len(line) - len(line.lstrip()), old, ";", "statement left out"


def mutants(path, with_sql, where):
    """Those of one file, of whose functions `where` has the lines."""
    text = open(path, encoding="utf-8").read()
    bare_text, strings = blank(text)
    lines, bare = text.split("\n"), bare_text.split("\n")
    owner = {}
    for first, last, name in where:
        for n in range(first + 1, last + 1):
            owner[n] = name
    found = []
    for n, line in enumerate(lines, 1):
        if n in owner:
            found += [Mutant(path, n, c, old, new, owner[n], what) for c, old, new, what in of_line(bare[n - 1], line)]
    if with_sql:
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        for begin, end in strings:
            if not re.search(r"\b(SELECT|UPDATE|INSERT|DELETE|WHERE|AND|FROM|JOIN|SET)\b", text[begin:end]):
                continue
            n = text.count("\n", 0, begin) + 1
            for m in SQL_TOKEN.finditer(text, begin, end):
                # The statement stands above its user: the first function behind it.
                name = owner.get(n) or next((f for first, _, f in where if first > n), None)
                if name:
                    found.append(Mutant(path, n, m.start(1) - starts[n - 1], m[1], SQL_SWAP[m[1]], name, "SQL"))
    return found


def apply(m):
    """The file's text with the change in it."""
    lines = open(m.file, encoding="utf-8").read().split("\n")
    line = lines[m.line - 1]
    assert line[m.column:m.column + len(m.old)] == m.old, (m, line)
    lines[m.line - 1] = line[:m.column] + m.new + line[m.column + len(m.old):]
    return "\n".join(lines)
