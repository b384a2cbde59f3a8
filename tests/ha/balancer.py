# SPDX-License-Identifier: Apache-2.0
"""balancer.py - HAProxy before two falaj-api, as docs/howto/high-availability.md has it, and which of them it takes as up."""
import csv, urllib.request


def conf(site):
    people = "\n".join(f"  server api{i + 1} 127.0.0.1:{x}" for i, x in enumerate(site.api_ports))
    machines = "\n".join(f"  server api{i + 1} 127.0.0.1:{x} check port {y}"
                         for i, (x, y) in enumerate(zip(site.worker_ports, site.api_ports)))
    return f"""defaults
  timeout connect 1s
  timeout check 2s
  timeout client 75s
  timeout server 75s
  default-server check inter 500ms fall 2 rise 1
  option redispatch
  retries 3
listen stats
  mode http
  bind 127.0.0.1:{site.stats_port}
  stats enable
  stats uri /
frontend people
  mode http
  option forwardfor
  bind 127.0.0.1:{site.port}
  use_backend api_whole if {{ nbsrv(api_whole) gt 0 }}
  default_backend api
backend api_whole
  mode http
  option httpchk GET /readyz?whole=true
  retry-on conn-failure
  balance leastconn
{people}
backend api
  mode http
  option httpchk GET /readyz
  retry-on conn-failure
  balance leastconn
{people}
frontend machines
  mode tcp
  bind 127.0.0.1:{site.worker_port}
  use_backend machines_whole if {{ nbsrv(machines_whole) gt 0 }}
  default_backend machines
backend machines_whole
  mode tcp
  option httpchk GET /readyz?whole=true
  default-server on-marked-down shutdown-sessions
{machines}
backend machines
  mode tcp
  option httpchk GET /readyz
{machines}
"""


def up(site, backend):
    """How many servers of this backend get calls."""
    with urllib.request.urlopen(f"http://127.0.0.1:{site.stats_port}/;csv", timeout=10) as r:
        rows = csv.DictReader(r.read().decode().lstrip("# ").splitlines())
    return sum(x["svname"].startswith("api") and x["status"].startswith("UP") for x in rows if x["pxname"] == backend)
