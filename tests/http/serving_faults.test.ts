// SPDX-License-Identifier: Apache-2.0
// serving_faults.test.ts - what callers of a model meet when it has too much to do, when its process dies, and when somebody
// wants to roll it to a version that they could not call. Others go on as if nothing had been.
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, inject, test } from "vitest";
import { digitRows, digitsCsv, train, until, upload } from "./client.ts";
import { api, makeTenant, must, problemOf, PATIENCE_MS, type Api, type Reply, type Ready } from "./harness.ts";
import { connected, stalled, untilPending } from "./stall.ts";

const ready: Ready = inject("falaj");
const admin: Api = api(ready, ready.admin_token);
const CALLS = 12; // the harness has sockets for more
const ROWS = 128; // take longer to compute than to read, and little enough that 12 of them are answered on a busy machine
const FEW = 4; // rows of a call that waits for a batch to fill
const DELAY_US = 3_000_000; // the calls behind the first one come meanwhile, however fast the machine computes
let t: { token: string; api: Api };
let wide: any;
let model: string;
let dataset: string;
const pids: Record<string, number> = {};

/** So wide that a call takes much longer to compute than to read, and serves beside a small one of the same tenant. A call with
 *  more rows would not fit into the socket of a child that is stopped. */
beforeAll(async () => {
  t = await makeTenant(ready);
  dataset = (await upload(t.api, digitsCsv.split("\n").slice(0, 129).join("\n"), "digits")).dataset_id;
  const job = await train(t.api, dataset, { hidden: [3072, 3072], epochs: 1 });
  model = must(await t.api.post("/v1/models", { name: "wide", job_id: job.job_id }), 201).model_id;
  const queue = { max_queue_size: 1, max_queue_delay_microseconds: DELAY_US };
  wide = must(await t.api.post("/v1/deployments", { name: "wide", model_id: model, ...queue }), 201);
  await until(() => t.api.get("/v2/models/wide/ready"), 200, 120_000);
  pids["wide"] = await newChild([]);
  const small = await train(t.api, dataset, { hidden: [8], epochs: 1 });
  const made = must(await t.api.post("/v1/models", { name: "small", job_id: small.job_id }), 201);
  must(await t.api.post("/v1/deployments", { name: "small", model_id: made.model_id }), 201);
  await until(() => t.api.get("/v2/models/small/ready"), 200, 120_000);
  pids["small"] = await newChild([pids["wide"]]);
}, 240_000);

const row = digitRows(1)[0]!.features;
const call = (name: string, rows: number, parameters?: object): Promise<Reply> =>
  t.api("POST", `/v2/models/${name}/infer`, {
    body: {
      inputs: [{ name: "input", shape: [rows, 64], datatype: "FP32", data: Array.from({ length: rows }, () => row).flat() }],
      ...(parameters ? { parameters } : {}),
    },
  });

/** As tensors behind the JSON, which are read much faster than they are computed. */
function binary(rows: number, parameters: object = {}): Promise<Reply> {
  const numbers = Buffer.from(Float32Array.from(Array.from({ length: rows }, () => row).flat()).buffer);
  const json = JSON.stringify({
    inputs: [{ name: "input", shape: [rows, 64], datatype: "FP32", parameters: { binary_data_size: numbers.length } }],
    outputs: [{ name: "label" }],
    parameters,
  });
  return t.api("POST", "/v2/models/wide/infer", {
    raw: Buffer.concat([Buffer.from(json), numbers]),
    headers: { "content-type": "application/octet-stream", "inference-header-content-length": String(json.length) },
  });
}

/** The one that serves besides those: what trained has ended. */
async function newChild(known: number[]): Promise<number> {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(50)) {
    const found = children().filter((p) => !known.includes(p));
    if (found.length === 1) return found[0]!;
    expect(Date.now(), `children ${found}`).toBeLessThan(end);
  }
}

const children = (): number[] => {
  const worker: number = JSON.parse(readFileSync(resolve(ready.data_dir, "dev.json"), "utf8")).pids.worker;
  return readdirSync(`/proc/${worker}/task`)
    .flatMap((task) => readFileSync(`/proc/${worker}/task/${task}/children`, "utf8").trim().split(" "))
    .filter(Boolean)
    .map(Number);
};

/** Calls that all wait at the child when it goes on. */
async function together(one: (i: number) => Promise<Reply>): Promise<Reply[]> {
  let calls: Promise<Reply>[] = [];
  await connected(ready, wide.job_id, CALLS, () => call("wide", 1));
  await stalled(pids["wide"]!, async () => {
    calls = Array.from({ length: CALLS }, (_, i) => one(i));
    await untilPending(admin, CALLS);
  });
  return Promise.all(calls);
}

test("a full queue refuses with 429 and when to come again, and answers what it took", async () => {
  const replies = await together(() => binary(FEW));
  const answered = replies.filter((r) => r.status === 200),
    refused = replies.filter((r) => r.status === 429);
  expect(answered.length + refused.length, replies.map((r) => r.status).join(" ")).toBe(CALLS);
  expect(answered.length).toBeGreaterThan(0);
  expect(refused.length).toBeGreaterThan(0);
  for (const r of refused) {
    expect(r.headers.get("retry-after")).toBe("1");
    expect(r.json.error).toContain("as many requests waiting as it may");
  }
  for (const r of answered) expect(r.json.outputs[0].shape[0]).toBe(FEW);
});

test("who may not wait for so long is refused with 503, and who may is answered", async () => {
  const queue = { max_queue_size: 4096, max_queue_delay_microseconds: 0 };
  must(await t.api("PATCH", `/v1/deployments/${wide.deployment_id}`, { body: queue }), 200);
  for (const end = Date.now() + 90_000; ; await sleep(100)) {
    const d = must(await t.api.get(`/v1/deployments/${wide.deployment_id}`), 200);
    wide = d;
    if (d.roll === "NONE" && d.max_queue_size === 4096) break;
    expect(Date.now(), d.roll_error).toBeLessThan(end);
  }
  pids["wide"] = await newChild([pids["wide"]!, pids["small"]!]); // the old one may be there for a while
  const replies = await together((i) => binary(ROWS, { timeout: i % 2 ? 1 : 0, priority: i % 2 ? 100 : 1 }));
  const late = replies.filter((r, i) => i % 2 && r.status === 503);
  expect(late.length).toBeGreaterThan(0);
  for (const r of late) {
    expect(Number(r.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(r.json.error).toContain("waited longer for its turn");
  }
  replies.forEach((r, i) => expect(i % 2 ? [200, 503] : [200]).toContain(r.status));
  for (const bad of [{ timeout: -1 }, { priority: 101 }, { priority: "high" }])
    expect((await call("wide", 1, bad)).status).toBe(400);
}, 180_000);

test("a process that dies costs its own calls only: 503 at most, then a new one, and others never notice", async () => {
  let is_over = false;
  const others: number[] = [];
  const other = (async () => {
    while (!is_over) others.push((await call("wide", 1)).status);
  })();
  const dies = pids["small"]!;
  process.kill(dies, "SIGKILL");
  for (const end = Date.now() + 120_000; ; await sleep(20)) {
    const r = await call("small", 1);
    if (r.status === 200 && !children().includes(dies)) break;
    if (r.status !== 200) {
      expect(r.status, r.text).toBe(503);
      expect(Number(r.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(Date.now()).toBeLessThan(end);
  }
  is_over = true;
  await other;
  expect(new Set(others)).toEqual(new Set([200]));
}, 180_000);

test("a roll to a version with another signature is refused unless it is meant", async () => {
  const job = await train(t.api, (await upload(t.api, "a,b,label\n1,2,0\n2,1,1\n3,4,0\n4,3,1\n", "pairs")).dataset_id, {
    hidden: [4],
    epochs: 1,
  });
  const made = must(await t.api.post("/v1/models", { name: "wide", job_id: job.job_id }), 201);
  expect([made.model_id, made.version]).toEqual([model, 2]);
  const path = `/v1/deployments/${wide.deployment_id}`;
  const no = await t.api("PATCH", path, { body: { model_version: 0 } });
  expect([no.status, problemOf(no).errors[0]!.pointer]).toEqual([422, "/model_version"]);
  expect(no.json.detail).toContain("input FP32[-1,2]");
  expect(no.json.detail).toContain("input FP32[-1,64]");
  expect((await t.api.post("/v2/repository/models/wide/load", {})).status).toBe(422);
  expect(must(await t.api.get(path), 200)).toMatchObject({ model_version: 1, roll: "NONE" });
  must(await t.api("PATCH", path, { body: { model_version: 2, allow_new_signature: true } }), 200);
  for (const end = Date.now() + 90_000; ; await sleep(100)) {
    const d = must(await t.api.get(path), 200);
    if (d.model_version === 2) break;
    expect(Date.now(), d.roll_error).toBeLessThan(end);
  }
  await until(() => call("wide", 1), 400);
  expect((await call("wide", 1)).json.error).toContain("the model takes input FP32[-1,2]");
}, 180_000);
