#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py - the bill of materials of an archive, as CycloneDX 1.5 and SPDX 2.3, both in JSON.

usage: sbom.py --packages DIR --console LOCKFILE --version V --epoch SECONDS --out DIR

Components: each Debian package in DIR with its SHA-256 (Falaj's own and those of Debian), each npm package that the console's
lockfile has for production, and what is linked statically into falaj-verify. Sorted, and no clock is read: the same input gives
the same bytes. Formats: CycloneDX 1.5 JSON schema, SPDX 2.3; purl-spec for pkg:deb and pkg:npm."""
import argparse, base64, datetime, hashlib, json, pathlib, re, subprocess, urllib.parse, uuid

STATIC = ("libc6-dev", "libssl-dev")       # in falaj-verify, which is one static program


def quoted(text):
    return urllib.parse.quote(text, safe=".-_~")


def purl_of_deb(vendor, name, version, arch):
    return f"pkg:deb/{vendor}/{quoted(name)}@{quoted(version)}?arch={arch}&distro=debian-12"


def purl_of_npm(name, version):
    """A scope is a part of its own, its @ escaped."""
    parts = ["%40" + quoted(x[1:]) if x[0] == "@" else quoted(x) for x in name.split("/")]
    return f"pkg:npm/{'/'.join(parts)}@{quoted(version)}"


def of_deb(path):
    fields = subprocess.run(["dpkg-deb", "-f", path, "Package", "Version", "Architecture", "Maintainer", "Description"],
                            check=True, capture_output=True, text=True).stdout
    get = dict(re.findall(r"^(\w+): (.*)$", fields, re.M))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    vendor = "falaj" if get["Package"].startswith("falaj-") else "debian"
    return {"name": get["Package"], "version": get["Version"], "description": get["Description"], "supplier": get["Maintainer"],
            "hash": ("SHA-256", digest), "license": "Apache-2.0" if vendor == "falaj" else None, "file": path.name,
            "purl": purl_of_deb(vendor, get["Package"], get["Version"], get["Architecture"])}


def of_npm(lockfile):
    """Packages that are not for development alone, once for each version."""
    found = {}
    for place, p in json.loads(lockfile.read_text(encoding="utf-8"))["packages"].items():
        if not place or p.get("dev") or p.get("devOptional") or p.get("link"):
            continue
        name = p.get("name") or place.split("node_modules/")[-1]
        algorithm, _, digest = p.get("integrity", "").partition("-")
        found[name, p["version"]] = {
            "name": name, "version": p["version"], "description": "in the web console (falaj-console)",
            "supplier": None, "file": None,
            "hash": ("SHA-512", base64.b64decode(digest).hex()) if algorithm == "sha512" else None, "license": p.get("license"),
            "purl": purl_of_npm(name, p["version"])}
    return found.values()


def of_static():
    """Known only where the packages were built."""
    r = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version} ${Architecture}\n", *STATIC],
                       capture_output=True, text=True)
    for state, name, version, arch in (line.split() for line in r.stdout.splitlines()):
        if state == "installed":
            yield {"name": name, "version": version, "description": "linked statically into falaj-verify", "supplier": None,
                   "hash": None, "license": None, "file": None, "purl": purl_of_deb("debian", name, version, arch)}


def is_expression(text):
    """SPDX knows identifiers and AND, OR, WITH; other words are the package's own."""
    return bool(text) and bool(re.fullmatch(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*", text.strip("()")))


def cyclonedx(parts, version, stamp, serial):
    def component(c):
        out = {"type": "library", "bom-ref": c["purl"], "name": c["name"], "version": c["version"],
               "description": c["description"], "purl": c["purl"]}
        if c["hash"]:
            out["hashes"] = [{"alg": c["hash"][0], "content": c["hash"][1]}]
        if is_expression(c["license"]):
            out["licenses"] = [{"expression": c["license"]}]
        return out
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1,
            "metadata": {"timestamp": stamp, "component": {"type": "application", "bom-ref": "falaj", "name": "falaj",
                                                           "version": version}},
            "components": [component(c) for c in parts],
            "dependencies": [{"ref": "falaj", "dependsOn": [c["purl"] for c in parts]}]}


def relation(of, kind, to):
    return {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to}


def spdx(parts, version, stamp, serial):
    def package(i, c):
        licence = c["license"] if is_expression(c["license"]) else "NOASSERTION"
        out = {"SPDXID": f"SPDXRef-{i}", "name": c["name"], "versionInfo": c["version"], "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
               "comment": c["description"],
               "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": c["purl"]}]}
        if c["supplier"]:
            out["supplier"] = f"Organization: {c['supplier']}"
        if c["file"]:
            out["packageFileName"] = c["file"]
        if c["hash"]:
            out["checksums"] = [{"algorithm": c["hash"][0].replace("-", ""), "checksumValue": c["hash"][1]}]
        return out
    top = {"SPDXID": "SPDXRef-falaj", "name": "falaj", "versionInfo": version, "downloadLocation": "NOASSERTION",
           "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
           "copyrightText": "NOASSERTION"}
    packages = [package(i, c) for i, c in enumerate(parts)]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"falaj-{version}",
            "documentNamespace": f"urn:uuid:{serial}",
            "creationInfo": {"created": stamp, "creators": ["Tool: falaj-sbom"]},
            "packages": [top, *packages],
            "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-falaj"),
                              *(relation("SPDXRef-falaj", "CONTAINS", p["SPDXID"]) for p in packages)]}


def main():
    a = argparse.ArgumentParser()
    for name in ("packages", "console", "out"):
        a.add_argument(f"--{name}", type=pathlib.Path, required=True)
    a.add_argument("--version", required=True)
    a.add_argument("--epoch", type=int, required=True)
    a = a.parse_args()
    parts = [of_deb(path) for path in a.packages.glob("*.deb")] + list(of_npm(a.console)) + list(of_static())
    parts = sorted({c["purl"]: c for c in reversed(parts)}.values(), key=lambda c: c["purl"])
    stamp = datetime.datetime.fromtimestamp(a.epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    serial = uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(json.dumps(parts).encode()).hexdigest())
    for name, make in (("falaj.cdx.json", cyclonedx), ("falaj.spdx.json", spdx)):
        (a.out / name).write_text(json.dumps(make(parts, a.version, stamp, serial), indent=1) + "\n", encoding="utf-8")


main()
