#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""registry_server.py FOLDER - a registry over TLS that does what the repository's name says: good ones, and hostile ones.

It makes an authority of its own in FOLDER/ca.pem, prints one line of JSON (port, digests), and serves until its standard input
ends. Every request is noted in FOLDER/log, so a test sees what was asked, and of whom."""
import base64, gzip, hashlib, http.server, io, json, os, socketserver, ssl, subprocess, sys, tarfile, threading, time

folder = sys.argv[1]
sha = lambda b: 'sha256:' + hashlib.sha256(b).hexdigest()
OCI = 'application/vnd.oci.image.'


def layer(files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode='w', format=tarfile.USTAR_FORMAT) as t:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            t.addfile(entry, io.BytesIO(data))
    return raw.getvalue()


STATUS = b'Package: base-files\nStatus: install ok installed\nVersion: 12.4\nArchitecture: amd64\n\n'
plain = layer({'etc/os-release': b'ID=tiny\n', 'var/lib/dpkg/status': STATUS, 'opt/noise': os.urandom(300000)})
packed = gzip.compress(plain, mtime=0)
config = json.dumps({'architecture': 'amd64', 'os': 'linux', 'config': {'Env': ['PATH=/bin']},
                     'rootfs': {'type': 'layers', 'diff_ids': [sha(plain)]}}).encode()
blobs = {sha(b): b for b in (packed, config)}


def manifest(layer_digest=sha(packed), layer_size=len(packed), config_size=len(config)):
    return json.dumps({'schemaVersion': 2, 'mediaType': OCI + 'manifest.v1+json',
                       'config': {'mediaType': OCI + 'config.v1+json', 'digest': sha(config), 'size': config_size},
                       'layers': [{'mediaType': OCI + 'layer.v1.tar+gzip', 'digest': layer_digest, 'size': layer_size}]}).encode()


def index(*entries):
    return json.dumps({'schemaVersion': 2, 'mediaType': OCI + 'index.v1+json', 'manifests': [
        {'mediaType': OCI + 'manifest.v1+json', 'digest': d, 'size': n, 'platform': {'os': 'linux', 'architecture': arch}}
        for d, n, arch in entries]}).encode()


good = manifest()
texts = {
    'manifest': good,
    'longer': manifest(layer_size=len(packed) - 100),       # the manifest says less than comes
    'shorter': manifest(layer_size=len(packed) + 100),
    'huge': manifest(layer_size=1 << 62),
    'negative': manifest(layer_size=-1),
    'missing': manifest(layer_digest='sha256:' + 'a' * 64),
    'nodigest': manifest(layer_digest='../../../etc/passwd'),
    'index': index(('sha256:' + 'b' * 64, 10, 'riscv64'), (sha(good), len(good), 'amd64')),
    'indexsize': index((sha(good), len(good) + 1, 'amd64')),
    'others': index(('sha256:' + 'b' * 64, 10, 'riscv64'), ('sha256:' + 'c' * 64, 10, 's390x')),
    'nojson': b'not json',
    'schema1': json.dumps({'schemaVersion': 1, 'fsLayers': []}).encode(),
}
manifests = {sha(t): t for t in texts.values()}
tries = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True      # head and body are two writes

    def log_message(self, *_):
        pass

    def note(self):
        with open(os.path.join(folder, 'log'), 'a', encoding='ascii') as f:
            f.write(f"{self.command} {self.headers.get('Host')} {self.path} {self.headers.get('Authorization', '-')} "
                    f"{self.headers.get('Range', '-')}\n")

    def answer(self, status, body=b'', **headers):
        self.send_response(status)
        headers.setdefault('Content_Length', str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, text):
        self.answer(401, b'{}', WWW_Authenticate=text)

    def token(self):
        who = self.headers.get('Authorization', '')
        if 'gate-token' in self.path and who != 'Basic ' + base64.b64encode(b'ann:secret').decode():
            return self.answer(401, b'{}')
        if 'many' in self.path:
            return self.answer(200, b'{"token":"' + b'x' * 200000 + b'"}')
        return self.answer(200, json.dumps({'token': 'tok'}).encode())

    def is_let_in(self, repo):
        who, here = self.headers.get('Authorization', ''), f'https://localhost:{port}'
        if repo == 'basic' and who != 'Basic ' + base64.b64encode(b'ann:secret').decode():
            return self.refuse('Basic realm="x"')
        if repo.startswith('bearer') and who != 'Bearer tok':
            return self.refuse(f'Bearer realm="{here}/token",service="reg istry",scope="repository:other:push"')
        if repo == 'gate' and who != 'Bearer tok':
            return self.refuse(f'Basic realm="x", Bearer realm="{here}/gate-token?a=b",service="s"')
        if repo == 'loop401':
            return self.refuse(f'Bearer realm="{here}/token"')
        if repo == 'realmelsewhere':
            return self.refuse('Bearer realm="https://elsewhere.example/token"')
        if repo == 'realmhttp':
            return self.refuse(f'Bearer realm="http://localhost:{port}/token"')
        if repo == 'realmuser':
            return self.refuse(f'Bearer realm="https://localhost:{port}@elsewhere.example/token"')
        if repo == 'manytoken':
            return self.refuse(f'Bearer realm="{here}/many"')
        return True

    def drip(self, body):
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        for i in range(len(body)):
            self.wfile.write(body[i:i + 1])
            self.wfile.flush()
            time.sleep(0.1)

    def endless(self):
        self.send_response(200)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        while True:
            self.wfile.write(b'10000\r\n' + b'x' * 65536 + b'\r\n')

    def blob(self, repo, body):
        here = f'https://localhost:{port}'
        if repo == 'endless':
            return self.endless()
        if repo == 'drip' and len(body) > 10000:
            return self.drip(body)
        if repo == 'silent':
            return time.sleep(60)
        if repo == 'wrongblob':
            return self.answer(200, b'x' * len(body))
        if repo == 'says':
            return self.answer(200, body, Content_Length=str(len(body) + 5))
        if repo in ('elsewhere', 'plain', 'user', 'metadata', 'circle', 'stored'):
            to = {'elsewhere': 'https://elsewhere.example/x', 'plain': f'http://localhost:{port}/stored{self.path}',
                  'user': f'https://localhost:{port}@elsewhere.example/x', 'metadata': 'https://169.254.169.254/latest',
                  'circle': here + self.path, 'stored': f'{here}/other{self.path}'}[repo]
            return self.answer(307, b'', Location=to)
        if repo in ('broken', 'restarted'):
            n = tries[repo, sha(body)] = tries.get((repo, sha(body)), 0) + 1
            begin = self.headers.get('Range', '')
            if begin and repo == 'broken':
                at = int(begin.removeprefix('bytes=').rstrip('-'))
                return self.answer(206, body[at:], Content_Range=f'bytes {at}-{len(body) - 1}/{len(body)}')
            if n < 2 and len(body) > 10000:
                self.send_response(200)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body[:len(body) // 2])
                self.wfile.flush()
                self.close_connection = True
                return self.connection.close()
        if repo == 'down':
            return self.answer(503, b'')
        return self.answer(200, body)

    def do_GET(self):
        try:
            self.note()
            self.serve()
        except OSError:
            self.close_connection = True

    def serve(self):
        path = self.path.removeprefix('/other')
        if '/token' in path or 'gate-token' in path or path.startswith('/many'):
            return self.token()
        parts = path.split('/')
        if len(parts) < 5 or parts[1] != 'v2':
            return self.answer(404)
        repo, kind, digest = '/'.join(parts[2:-2]), parts[-2], parts[-1]
        if not self.path.startswith('/other') and self.is_let_in(repo) is not True:
            return None
        if kind == 'manifests':
            if repo == 'hugemanifest':
                return self.endless()
            if repo == 'wrongmanifest':
                return self.answer(200, good + b' ')
            body = manifests.get(digest)
            return self.answer(404) if body is None else self.answer(200, body)
        body = blobs.get(digest)
        return self.answer(404) if body is None else self.blob('' if self.path.startswith('/other') else repo, body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


key, ca = os.path.join(folder, 'key.pem'), os.path.join(folder, 'ca.pem')
subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                '-keyout', key, '-out', ca, '-subj', '/CN=registry', '-addext', 'subjectAltName=DNS:localhost'],
               check=True, capture_output=True)
server = Server(('127.0.0.1', 0), Handler)
port = server.server_address[1]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(ca, key)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(json.dumps({'port': port, 'blob': sha(packed), **{name: sha(t) for name, t in texts.items()}}), flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
