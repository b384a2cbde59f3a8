#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""import.py BENCH_IMPORT [FOLDER…] - what checking and unpacking an image costs beside `sha256sum` of its archive and `tar xz` of
its layers, in turns within one run. Told is processor time of each (user and system),
  and the ratio theirs/ours: at least 0.7 is wanted.
The image has one layer for each folder, gzip as tools write it."""
import gzip, hashlib, io, json, os, shutil, subprocess, sys, tarfile, tempfile

TURNS = 5


def archive(path, folders, layers_dir):
    with tarfile.open(path, "w") as t:
        def put(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))

        def blob(data, **more):
            put(f"blobs/sha256/{hashlib.sha256(data).hexdigest()}", data)
            return {"digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data), **more}
        layers, diffs, files = [], [], []
        for i, folder in enumerate(folders):
            plain = subprocess.run(["tar", "c", "--hard-dereference", "--mode=u+rw,ug-s", "-C", "/", folder.lstrip("/")],
              check=True,
                                   capture_output=True).stdout
            packed = gzip.compress(plain, 6)
            files.append(os.path.join(layers_dir, f"{i}.tar.gz"))
            with open(files[-1], "wb") as f:
                f.write(packed)
            layers.append(blob(packed, mediaType="application/vnd.oci.image.layer.v1.tar+gzip"))
            diffs.append("sha256:" + hashlib.sha256(plain).hexdigest())
        arch = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
        config = blob(json.dumps({"architecture": arch, "os": "linux", "rootfs": {"type": "layers", "diff_ids": diffs}}).encode())
        manifest = blob(json.dumps({"schemaVersion": 2, "config": config, "layers": layers}).encode(),
                        mediaType="application/vnd.oci.image.manifest.v1+json")
        put("index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
        put("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
    return files


def cpu(command, folder):
    os.makedirs(folder)
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execvp(command[0], command)
    _, status, use = os.wait4(pid, 0)
    assert status == 0, command
    shutil.rmtree(folder)
    return use.ru_utime + use.ru_stime


def main():
    bench, folders = os.path.abspath(sys.argv[1]), sys.argv[2:] or ["/usr/lib/python3", "/usr/share/perl"]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as d:
        path, to = os.path.join(d, "image.tar"), os.path.join(d, "to")
        files = archive(path, folders, d)
        theirs = "sha256sum " + path + "".join(f" && tar xzf {f} -C {to}" for f in files)
        turns = [(cpu([bench, path, to], to), cpu(["sh", "-c", theirs], to)) for _ in range(TURNS)]
        ours, other = min(t[0] for t in turns), min(t[1] for t in turns)
        print(f"{len(files)} layers, archive {os.path.getsize(path) >> 20} MiB, load {os.getloadavg()[0]:.0f}")
        print(f"check and unpack {ours:.2f} s, sha256sum and tar xz {other:.2f} s of processor time: ratio {other / ours:.2f}")


if __name__ == "__main__":
    main()
