#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""api-page.py - the reference of the API as one page, from its OpenAPI 3.1 document: every call with what it takes, answers and
needs, every schema with its members. No script, no style or font from elsewhere: it is read from a disk.

usage: docs/api-page.py docs/gen/openapi.json >api.html
The same document gives the same bytes. Exit status 1: the document names something that it does not have."""
import html, json, sys

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem;color:#151515;background:#fff}
h2{border-bottom:1px solid #888;margin-top:3rem}h3{margin:2rem 0 .3rem}
code{background:#f0f0f0;padding:0 .2rem;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{text-align:start;vertical-align:top;padding:.2rem .5rem;border-bottom:1px solid #ccc}
a{color:#004d99}nav ul{columns:3;list-style:none;padding:0}
@media(max-width:50rem){nav ul{columns:1}}
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#151515}code{background:#2a2a2a}a{color:#92c5f9}}"""
METHODS = ("get", "post", "put", "patch", "delete")


def text(s):
    return html.escape(s or "")


class Page:
    def __init__(self, document):
        self.d, self.out = document, []

    def add(self, *parts):
        self.out += parts

    def found(self, ref):
        at = self.d
        for name in ref.removeprefix("#/").split("/"):
            at = at[name.replace("~1", "/").replace("~0", "~")]
        return at

    def resolved(self, x):
        return self.found(x["$ref"]) if "$ref" in x else x

    def kind(self, schema):
        """A schema in a few words, with a link where it has a name."""
        if "$ref" in schema:
            self.found(schema["$ref"])
            name = schema["$ref"].split("/")[-1]
            return f'<a href="#schema-{text(name)}">{text(name)}</a>'
        if "items" in schema:
            return "array of " + self.kind(schema["items"])
        for word in ("oneOf", "anyOf", "allOf"):
            if word in schema:
                return (" and " if word == "allOf" else " or ").join(self.kind(x) for x in schema[word])
        words = schema.get("type", "any")
        words = " or ".join(words) if isinstance(words, list) else words
        if schema.get("format"):
            words += f" ({schema['format']})"
        limits = [f"{name} {schema[key]}" for key, name in (("minimum", "from"), ("maximum", "to"), ("minLength", "length from"),
                                                            ("maxLength", "length to"), ("pattern", "as")) if key in schema]
        if "default" in schema:
            limits.append(f"absent: {json.dumps(schema['default'])}")
        if "enum" in schema:
            limits.append("one of " + ", ".join(json.dumps(x) for x in schema["enum"]))
        return text(", ".join([words, *limits]))

    def rows(self, head, rows):
        if rows:
            cells = "".join(f"<th scope=\"col\">{x}</th>" for x in head)
            self.add(f"<table><thead><tr>{cells}</tr></thead><tbody>")
            self.add(*("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows), "</tbody></table>")

    def content(self, x):
        return "; ".join(f"<code>{text(kind)}</code> {self.kind(c.get('schema', {}))}"
                         for kind, c in x.get("content", {}).items())

    def call(self, path, method, op):
        self.add(f'<h3 id="{text(op["operationId"])}"><code>{method.upper()} {text(path)}</code></h3>',
                 f"<p><strong>{text(op.get('summary'))}.</strong> {text(op.get('description'))}</p>")
        parameters = [self.resolved(p) for p in op.get("parameters", [])]
        self.rows(("parameter", "in", "type", ""), [
            (f"<code>{text(p['name'])}</code>", text(p["in"]) + (", needed" if p.get("required") else ""),
             self.kind(p.get("schema", {})), text(p.get("description"))) for p in parameters])
        if "requestBody" in op:
            self.add(f"<p>Takes {self.content(self.resolved(op['requestBody']))}</p>")
        self.rows(("status", "answer", ""), [
            (text(code), self.content(self.resolved(r)), text(self.resolved(r).get("description")))
            for code, r in op["responses"].items()])

    def schema(self, name, s):
        self.add(f'<h3 id="schema-{text(name)}"><code>{text(name)}</code></h3>', f"<p>{text(s.get('description'))}</p>")
        if "properties" not in s:
            self.add(f"<p>{self.kind(s)}</p>")
        needed = s.get("required", [])
        self.rows(("member", "type", ""), [
            (f"<code>{text(n)}</code>{', needed' if n in needed else ''}", self.kind(m), text(m.get("description")))
            for n, m in s.get("properties", {}).items()])

    def whole(self):
        info, by_tag = self.d["info"], {}
        for path, methods in self.d["paths"].items():
            for method in METHODS:
                if method in methods:
                    by_tag.setdefault(methods[method]["tags"][0], []).append((path, method, methods[method]))
        self.add("<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
                 '<meta name="viewport" content="width=device-width, initial-scale=1">',
                 f"<title>{text(info['title'])} {text(info['version'])}</title><style>{STYLE}</style></head><body><main>",
                 f"<h1>{text(info['title'])} {text(info['version'])}</h1><p>{text(info['description'])}</p>")
        said = {t["name"]: t.get("description") for t in self.d.get("tags", [])}
        for tag, calls in by_tag.items():
            links = "".join(f'<li><a href="#{text(op["operationId"])}">{m.upper()} {text(p)}</a></li>' for p, m, op in calls)
            self.add(f'<h2 id="tag-{text(tag)}">{text(tag)}</h2><p>{text(said.get(tag))}</p>',
                     f'<nav aria-label="{text(tag)}"><ul>{links}</ul></nav>')
            for one in calls:
                self.call(*one)
        self.add("<h2>Schemas</h2>")
        for name, s in self.d["components"]["schemas"].items():
            self.schema(name, s)
        self.add("</main></body></html>")
        return "\n".join(self.out) + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        document = json.load(f)
    try:
        sys.stdout.write(Page(document).whole())
    except KeyError as e:
        sys.exit(f"api-page.py: {sys.argv[1]} names {e}, which it does not have")


if __name__ == "__main__":
    main()
