#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""archive.py - an archive for machines without the internet is made of two small packages, and damaged in every way.

usage: tests/e2e/archive.py
What install.sh refuses it names, with status 3, and nothing is installed. tests/e2e/airgap.py installs the real one."""
import hashlib, json, os, pathlib, shutil, subprocess, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*args, rc=0, cwd=None):
    r = subprocess.run([str(x) for x in args], capture_output=True, text=True, cwd=cwd)
    assert r.returncode == rc, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def package(folder, name):
    tree = folder / name
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(f"Package: {name}\nVersion: 0.1.0\nArchitecture: amd64\n"
                                         "Maintainer: Falaj <m@falaj.invalid>\nDescription: small\n")
    run("dpkg-deb", "--root-owner-group", "-b", tree, folder / f"{name}_0.1.0_amd64.deb")
    shutil.rmtree(tree)


def sign_keys(folder):
    for name in ("maker", "other"):
        run("openssl", "genpkey", "-algorithm", "ed25519", "-out", folder / f"{name}.key")
        run("openssl", "pkey", "-in", folder / f"{name}.key", "-pubout", "-out", folder / f"{name}.pub")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DEB = "packages/falaj-cli_0.1.0_amd64.deb"
DAMAGE = {
    "a package is changed by one bit": (lambda d: flip(d / DEB), DEB, "was changed"),
    "a package is cut": (lambda d: os.truncate(d / DEB, 100), DEB, "was changed"),
    "a package is missing": (lambda d: (d / DEB).unlink(), DEB, "is missing"),
    "a link stands in its place": (lambda d: ((d / DEB).rename(d.parent / "away"), (d / DEB).symlink_to(d.parent / "away")),
                                   DEB, "is missing"),
    "the index for apt is changed": (lambda d: flip(d / "packages/Packages"), "packages/Packages", "was changed"),
    "a package is added": (lambda d: (d / "packages/evil.deb").write_text("x"), "packages/evil.deb", "was added"),
    "a bill of materials is changed": (lambda d: flip(d / "sbom/falaj.spdx.json"), "sbom/falaj.spdx.json", "was changed"),
    "the list is changed to fit": (lambda d: (flip(d / DEB), refit(d)), "SHA256SUMS", "not signed by the key"),
    "the signature is cut": (lambda d: os.truncate(d / "SHA256SUMS.sig", 10), "SHA256SUMS", "not signed by the key"),
    "the signature is missing": (lambda d: (d / "SHA256SUMS.sig").unlink(), "SHA256SUMS", "not the whole archive"),
}


def refit(d):
    lines = (d / "SHA256SUMS").read_text().splitlines()
    digest = hashlib.sha256((d / DEB).read_bytes()).hexdigest()
    (d / "SHA256SUMS").write_text("\n".join(f"{digest}  {DEB}" if x.endswith(DEB) else x for x in lines) + "\n")


def forge(d, good):
    """Somebody else's archive, signed by another key, which lies in it under the name of the maker's."""
    bad = d / "forged" / good.name
    shutil.copytree(good, bad)
    shutil.copy(d / "other.pub", bad / "maker.pub")
    digest = hashlib.sha256((bad / "maker.pub").read_bytes()).hexdigest()
    with open(bad / "SHA256SUMS", "a") as f:
        f.write(f"{digest}  maker.pub\n")
    sums = bad / "SHA256SUMS"
    run("openssl", "pkeyutl", "-sign", "-rawin", "-inkey", d / "other.key", "-in", sums, "-out", f"{sums}.sig")
    return bad


def check_key(d, good):
    """The key is the file that the caller names, wherever the archive lies, and none that the archive has in it."""
    assert "checked" in run(good / "install.sh", "--key", "maker.pub", "verify", cwd=d)
    bad = forge(d, good)
    said = run(bad / "install.sh", "--key", "maker.pub", "verify", cwd=d, rc=3)
    assert "not signed by the key" in said, said
    for key, cwd in ((bad / "maker.pub", d), ("maker.pub", bad), (d / "link.pub", d)):
        if key == d / "link.pub":
            key.symlink_to(bad / "maker.pub")
        assert "came with the archive" in run(bad / "install.sh", "--key", key, "verify", cwd=cwd, rc=2)
    shutil.rmtree(d / "forged")


def check_sbom(top):
    """Each package of the archive stands in both with the digest that it has; so does what the console has in it."""
    cdx, spdx = (json.loads((top / f"sbom/falaj.{x}.json").read_text()) for x in ("cdx", "spdx"))
    assert (cdx["bomFormat"], cdx["specVersion"], spdx["spdxVersion"]) == ("CycloneDX", "1.5", "SPDX-2.3")
    in_cdx = {c["purl"]: c.get("hashes", [{}])[0].get("content") for c in cdx["components"]}
    in_spdx = {p["externalRefs"][0]["referenceLocator"]: p.get("checksums", [{}])[0].get("checksumValue")
               for p in spdx["packages"][1:]}
    assert in_cdx == in_spdx and len(in_cdx) == len(cdx["components"])
    debs = list((top / "packages").glob("*.deb"))
    assert {hashlib.sha256(d.read_bytes()).hexdigest() for d in debs} <= set(in_cdx.values())
    lock = json.loads((ROOT / "console/package.json").read_text())["dependencies"]
    for name, version in lock.items():
        assert any(p.startswith("pkg:npm/") and p.endswith(f"{name.replace('@', '%40')}@{version}") for p in in_cdx), name
    assert {p["SPDXID"] for p in spdx["packages"]} == {x["relatedSpdxElement"] for x in spdx["relationships"]}
    return len(debs), len(in_cdx)


def main():
    with tempfile.TemporaryDirectory(prefix="falaj-archive-") as d:
        d = pathlib.Path(d)
        sign_keys(d)
        debs = d / "debs"
        debs.mkdir()
        package(debs, "falaj-cli"), package(debs, "falaj-doc")

        def build(out):
            said = run(ROOT / "deploy/airgap/build.sh", "--sign-key", d / "maker.key", "--debs", debs, "--without-debian",
                       "--out", d / out)
            return pathlib.Path(said.split(":")[0])     # falaj-airgap_VERSION_ARCH.tar
        first = build("one")
        assert first.name == "falaj-airgap_0.1.0_amd64.tar", first
        assert first.read_bytes() == build("two").read_bytes(), "two archives of the same packages differ"
        run("tar", "-xf", first, "-C", d)
        good = d / first.stem
        print("archive.py: %d packages, %d components" % check_sbom(good))
        verify = (good / "install.sh", "--key", d / "maker.pub", "--offline", "verify")
        assert "checked" in run(*verify)
        assert "not signed by the key" in run(good / "install.sh", "--key", d / "other.pub", "verify", rc=3)
        assert "--key FILE is needed" in run(good / "install.sh", "server", rc=2)
        check_key(d, good)
        for name, (damage, file, words) in DAMAGE.items():
            bad = d / "bad" / first.stem
            shutil.copytree(good, bad)
            damage(bad)
            for what in ("verify", "server"):       # server would install: it must not come so far
                said = run(bad / "install.sh", "--key", d / "maker.pub", "--offline", what, rc=3)
                assert file in said and words in said and "installed " not in said, (name, said)
            shutil.rmtree(d / "bad")
        key = d / "rsa.key"
        run("openssl", "genrsa", "-out", key, "2048")
        assert "no Ed25519" in run(ROOT / "deploy/airgap/build.sh", "--sign-key", key, "--debs", debs, "--without-debian", rc=2)
        print(f"archive.py: {len(DAMAGE)} kinds of damage and a foreign key, all refused by name")


main()
