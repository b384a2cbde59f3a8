# SPDX-License-Identifier: Apache-2.0
"""tls_front.py - TLS before a plain service on loopback, by an authority made for it, as an operator's proxy has it."""
import os, socket, ssl, subprocess, threading


def authority(folder, name):
    """(path of the authority's certificate, path of a certificate for localhost with its key)."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    ca, key, csr, pem = (f"{name}-{x}" for x in ("ca.pem", "key.pem", "csr.pem", "cert.pem"))
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *new, "-keyout", f"{name}-ca.key", "-out", ca, "-subj", f"/CN={name}", "-days", "2")
    openssl("req", *new, "-keyout", key, "-out", csr, "-subj", "/CN=localhost")
    with open(os.path.join(folder, "ext"), "w", encoding="utf-8") as f:
        f.write("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", csr, "-CA", ca, "-CAkey", f"{name}-ca.key", "-CAcreateserial", "-out", pem, "-days", "2",
            "-extfile", "ext")
    with open(os.path.join(folder, pem), "ab") as out, open(os.path.join(folder, key), "rb") as f:
        out.write(f.read())
    return os.path.join(folder, ca), os.path.join(folder, pem)


class Front:
    """Listens on a port of its own and passes bytes to `port`."""

    def __init__(self, pem, port):
        self.to, self.context = port, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.calls = self.listener.getsockname()[1], 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(plain,), daemon=True).start()

    def serve(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as caller, \
                    socket.create_connection(("127.0.0.1", self.to)) as server:
                self.calls += 1
                back = threading.Thread(target=self.pass_on, args=(server, caller), daemon=True)
                back.start()
                self.pass_on(caller, server)
                back.join()
        except (OSError, ssl.SSLError):
            pass

    @staticmethod
    def pass_on(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except (OSError, ssl.SSLError):
            pass

    def close(self):
        self.listener.close()
