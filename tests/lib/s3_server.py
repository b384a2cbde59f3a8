#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""s3_server.py - a bucket in memory for tests that must see an S3 store fail; tests/e2e/s3.py runs the same tests on Ceph.

usage: s3_server.py PROGRAM [ARG…]      runs PROGRAM with FALAJ_TEST_S3 (URL), _KEY and _SECRET set, and exits with its status
It checks each request's signature and the hash of its body by its own reading of the Signature Version 4 documents, knows put
(If-None-Match), get with ranges, head, delete, list (version 2) and uploads in parts with S3's least size of a part, and does
wrong what it is told to: GET /__fault?method=PUT&times=2&status=503 (or cut=before, after, half instead of a status; skip=3:
the three before that go well)."""
import hashlib, hmac, http.server, os, subprocess, sys, threading, time, urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET, BUCKET, PART_MIN = "test-key", "test/secret+1", "blobs", 5 << 20
lock, objects, uploads, faults, counter = threading.Lock(), {}, {}, [], [0]


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


def signature(method, path, query, headers, body):
    """What the Authorization header must be, or None when the request is not signed as it should be."""
    given = dict(p.strip().split("=", 1) for p in headers.get("authorization", "").replace("AWS4-HMAC-SHA256 ", "",
                                                                                           1).split(",") if "=" in p)
    if not {"Credential", "SignedHeaders", "Signature"} <= given.keys():
        return None
    key, day, region, service, end = given["Credential"].split("/")
    names = given["SignedHeaders"].split(";")
    if key != KEY or service != "s3" or end != "aws4_request" or not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names):
        return None
    if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return None
    pairs = sorted(p if "=" in p else p + "=" for p in query.split("&") if p)
    canonical = "\n".join([method, path, "&".join(pairs), *(f"{n}:{' '.join(headers[n].split())}" for n in names), "",
                           given["SignedHeaders"], headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(canonical.encode()).hexdigest()])
    derived = ("AWS4" + SECRET).encode()
    for part in (day, region, "s3", "aws4_request"):
        derived = hmac.new(derived, part.encode(), hashlib.sha256).digest()
    return hmac.new(derived, text.encode(), hashlib.sha256).hexdigest() == given["Signature"]


class Bucket(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        body = body.encode() if isinstance(body, str) else body
        cut = self.fault.get("cut")
        if cut == "after":
            self.close_connection = True
            return self.connection.close()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:len(body) // 2] if cut == "half" else body)
        if cut == "half":
            self.close_connection = True

    def refuse(self, status, code):
        self.answer(status, f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{code}</Message></Error>")

    def one(self):
        raw, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        args = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.fault = {}
        if raw == "/__fault":
            with lock:
                faults.append(args)
            return self.answer(200)
        with lock:
            for f in faults:
                if f["method"] != self.command or int(f["times"]) == 0:
                    continue
                name = "skip" if int(f.get("skip", 0)) else "times"
                f[name] = int(f[name]) - 1
                if name == "times":
                    self.fault = f
                    break
        if "status" in self.fault:
            return self.refuse(int(self.fault["status"]), "SlowDown")
        if self.fault.get("cut") == "before":
            self.close_connection = True
            return self.connection.close()
        if not signature(self.command, raw, query, {k.lower(): v for k, v in self.headers.items()}, body):
            return self.refuse(403, "SignatureDoesNotMatch")
        parts = urllib.parse.unquote(raw).lstrip("/").split("/", 1)
        if parts[0] != BUCKET:
            return self.refuse(404, "NoSuchBucket")
        with lock:
            self.act(parts[1] if len(parts) > 1 else "", args, body)

    def act(self, key, args, body):
        if not key:
            return self.list(args) if self.command == "GET" else self.answer(200)
        if "uploads" in args or "uploadId" in args:
            return self.upload(key, args, body)
        if self.command == "PUT":
            if self.headers.get("if-none-match") == "*" and key in objects:
                return self.refuse(412, "PreconditionFailed")
            objects[key] = (body, now())
            return self.answer(200, ETag=f'"{hashlib.md5(body).hexdigest()}"')
        if self.command == "DELETE":
            objects.pop(key, None)
            return self.answer(204)
        if key not in objects:
            return self.refuse(404, "NoSuchKey")
        data = objects[key][0]
        if self.command == "HEAD":
            return self.answer(200, Content_Length=str(len(data)))
        first, last = (self.headers.get("range") or "bytes=0-").removeprefix("bytes=").split("-")
        if int(first) >= len(data):
            return self.refuse(416, "InvalidRange")
        self.answer(206 if self.headers.get("range") else 200, data[int(first):int(last) + 1 if last else None])

    def upload(self, key, args, body):
        if self.command == "POST" and "uploads" in args:
            counter[0] += 1
            uploads[f"2~u{counter[0]}&+"] = (key, {}, now())
            return self.answer(200,
                               f"<Initiate><UploadId>{escape(list(uploads)[-1])}</UploadId></Initiate>")
        if args.get("uploadId") not in uploads:
            return self.refuse(404, "NoSuchUpload")
        _, parts, _ = uploads[args["uploadId"]]
        if self.command == "PUT":
            parts[int(args["partNumber"])] = body
            return self.answer(200, ETag=f'"{hashlib.md5(body).hexdigest()}"')
        if self.command == "POST":
            whole = [parts[n] for n in sorted(parts)]
            named = body.decode().count("<PartNumber>")
            if named != len(whole) or any(len(p) < PART_MIN for p in whole[:-1]):
                return self.refuse(400, "EntityTooSmall")
            objects[key] = (b"".join(whole), now())
            uploads.pop(args["uploadId"])
            return self.answer(200, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
        uploads.pop(args["uploadId"])
        self.answer(204)

    def list(self, args):
        prefix = args.get("prefix", "")
        if "uploads" in args:
            rows = [f"<Upload><Key>{escape(k)}</Key><UploadId>{escape(i)}</UploadId><Initiated>{at}</Initiated></Upload>"
                    for i, (k, _, at) in uploads.items() if k.startswith(prefix)]
            return self.answer(200, "<ListMultipartUploadsResult>" + "".join(rows) + "</ListMultipartUploadsResult>")
        keys = [k for k in sorted(objects) if k.startswith(prefix) and k > args.get("start-after",
                                                                                    "")][:int(args.get("max-keys", 1000))]
        row = "<Contents><Key>{}</Key><LastModified>{}</LastModified><Size>{}</Size></Contents>"
        rows = [row.format(escape(k), objects[k][1], len(objects[k][0]))
                for k in keys]
        self.answer(200, "<?xml version=\"1.0\"?><ListBucketResult>" + "".join(rows) + "</ListBucketResult>")

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = one


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ.update(FALAJ_TEST_S3=f"http://127.0.0.1:{server.server_port}/{BUCKET}/zone~1", FALAJ_TEST_S3_KEY=KEY,
                      FALAJ_TEST_S3_SECRET=SECRET)
    sys.exit(subprocess.run(sys.argv[1:]).returncode)
