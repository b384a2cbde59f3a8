#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image_of_python.py FILE - an OCI archive with the machine's /usr/bin/python3,
what it imports, a shell, and the libraries of both."""
import gzip, hashlib, io, json, os, re, subprocess, sys, tarfile

PROGRAMS = ["/usr/bin/python3", "/bin/sh"]


def files():
    found = set(PROGRAMS)
    code = ("import ctypes,os,socket,stat,struct,subprocess,sys,select,signal,threading,tempfile,encodings.utf_8\n"
            "print('\\n'.join(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)))")
    found |= set(subprocess.run([PROGRAMS[0], "-c", code], capture_output=True, text=True, check=True).stdout.split())
    for f in list(found):
        r = subprocess.run(["ldd", os.path.realpath(f)], capture_output=True, text=True)
        found |= set(re.findall(r"(/\S+)", r.stdout))
    return sorted(f for f in found if os.path.exists(f))


def layer():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
        for link in ("bin", "lib", "lib64"):
            info = tarfile.TarInfo(f"usr/{link}")
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            t.addfile(info)
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, f"usr/{link}"
            t.addfile(info)
        for f in files():
            data = open(os.path.realpath(f), "rb").read()
            info = tarfile.TarInfo(f.lstrip("/"))
            info.size, info.mode = len(data), 0o4755
            t.addfile(info, io.BytesIO(data))
        data = b"P:python3-tiny\nV:1-r0\nA:x86_64\n\n"
        info = tarfile.TarInfo("usr/lib/apk/db/installed")
        info.size, info.mode = len(data), 0o644
        t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def image(path):
    with tarfile.open(path, "w") as t:
        def put(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))

        def blob(data):
            digest = hashlib.sha256(data).hexdigest()
            put(f"blobs/sha256/{digest}", data)
            return {"digest": f"sha256:{digest}", "size": len(data)}

        plain = layer()
        packed = blob(gzip.compress(plain, 1))
        arch = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
        config = blob(json.dumps({"architecture": arch, "os": "linux", "config": {"Env": ["PATH=/usr/bin:/bin"]},
                                  "rootfs": {"type": "layers",
                                      "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]}}).encode())
        manifest = blob(json.dumps({"schemaVersion": 2, "config": config, "layers": [
            {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **packed}]}).encode())
        put("index.json", json.dumps({"schemaVersion": 2, "manifests": [
            {"mediaType": "application/vnd.oci.image.manifest.v1+json", **manifest}]}).encode())
        put("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
    return manifest["digest"]


if __name__ == "__main__":
    print(image(sys.argv[1]), file=sys.stderr)
