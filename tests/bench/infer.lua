-- SPDX-License-Identifier: Apache-2.0
-- infer.lua - wrk script: POST one body of FALAJ_WRK_BODY (a file) to FALAJ_WRK_PATH with the token FALAJ_WRK_TOKEN, a tensor in binary
-- behind FALAJ_WRK_JSON bytes of JSON; FALAJ_WRK_BODY empty: GET instead.
-- FALAJ_WRK_DELAY_MS: each connection waits so long between two calls. Prints one JSON line.
local wait = tonumber(os.getenv("FALAJ_WRK_DELAY_MS") or "0")
function init(args)
  wrk.path = os.getenv("FALAJ_WRK_PATH")
  if os.getenv("FALAJ_WRK_BODY") == "" then
    return
  end
  local f = io.open(os.getenv("FALAJ_WRK_BODY"), "rb")
  wrk.method = "POST"
  wrk.body = f:read("*a")
  f:close()
  wrk.headers["Authorization"] = "Bearer " .. os.getenv("FALAJ_WRK_TOKEN")
  wrk.headers["Content-Type"] = "application/octet-stream"
  wrk.headers["Inference-Header-Content-Length"] = os.getenv("FALAJ_WRK_JSON")
end
if wait > 0 then
  -- Spread at random, so that the connections do not come together.
  function delay() return math.random() * 2 * wait end
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"rate":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,"requests":%d,"bad":%d,"socket_errors":%d}\n',
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests, e.status, e.connect + e.read + e.write + e.timeout))
end
