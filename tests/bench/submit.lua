-- SPDX-License-Identifier: Apache-2.0
-- submit.lua - wrk script: POST /v1/jobs (or GET of one job) with a random token per request; FALAJ_WRK names the file of tokens
-- (lines "token" or, for reads, "token path"), FALAJ_WRK_BODY the body. Prints one JSON line.
local lines, body, thread_no = {}, os.getenv("FALAJ_WRK_BODY"), 0
local counter, prefix = 0, ""
function setup(thread) thread:set("no", thread_no); thread_no = thread_no + 1 end
function init(args)
  for l in io.lines(os.getenv("FALAJ_WRK")) do lines[#lines + 1] = l end
  math.randomseed(os.time() * 1000 + no)
  prefix = string.format("%x-%x-%x-", os.time(), no, math.random(0, 2 ^ 30))
  wrk.headers["Content-Type"] = "application/json"
end
function request()
  local l = lines[math.random(#lines)]
  if body then
    counter = counter + 1
    wrk.headers["Authorization"] = "Bearer " .. l
    wrk.headers["Idempotency-Key"] = prefix .. counter
    return wrk.format("POST", "/v1/jobs", nil, body)
  end
  local token, path = l:match("^(%S+) (%S+)$")
  wrk.headers["Authorization"] = "Bearer " .. token
  return wrk.format("GET", path)
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"rate":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,"requests":%d,"bad":%d,"socket_errors":%d}\n',
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests, e.status, e.connect + e.read + e.write + e.timeout))
end
