// SPDX-License-Identifier: Apache-2.0
// batch.test.ts - a data set and a request through a version of a model, as jobs of a real platform: the sealed result says
// what the deployment of the same version says online, number by number; progress is seen, and no other tenant sees any of it.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { until } from "./client.ts";
import { binary, makeTenant, must, problemOf, waitJob, type Api, type Ready } from "./harness.ts";

const ready: Ready = inject("falaj");
const dir = mkdtempSync(join(tmpdir(), "falaj-batch-"));
const COLUMNS = ["a", "b", "c"];
const ROWS = 1500;
let t: { token: string; api: Api };
let other: Api;
let model: string;
let rows: number[][];
let bare: string;

const csv = (names: string[], lines: number[][]): string => [names.join(","), ...lines.map((l) => l.join(",")), ""].join("\n");
const numbers = (r: number): number[] => [Math.sin(r), Math.cos(r * 1.3), ((r * 7) % 11) / 5].map(Math.fround);

async function upload(body: object, format: string, raw: string | Uint8Array): Promise<string> {
  const set = must(await t.api.post("/v1/datasets", body), 201);
  must(
    await t.api.post(`/v1/datasets/${set.dataset_id}/versions?format=${format}`, undefined, {
      raw,
      headers: { "content-type": format === "csv" ? "text/csv" : "application/octet-stream" },
    }),
    201,
  );
  return set.dataset_id;
}
const submit = (spec: object, api = t.api) =>
  api.post("/v1/jobs", { name: "batch", kind: "batch", spec: { model_id: model, ...spec } });
async function done(spec: object): Promise<any> {
  const { job_id } = must(await submit(spec), 201);
  return waitJob(t.api, job_id, ["COMPLETED"], 240_000);
}
const result = async (job: string): Promise<string> => {
  const got = await t.api.get(`/v1/jobs/${job}/outputs/result`);
  expect(got.status).toBe(200);
  return got.text;
};
const call = (of: number[][]) => ({
  id: "mine",
  inputs: [{ name: "input", datatype: "FP32", shape: [of.length, COLUMNS.length], data: of.flat() }],
});

/** A small perceptron of the platform's own training, deployed: what batches are compared with. */
beforeAll(async () => {
  t = await makeTenant(ready);
  other = (await makeTenant(ready)).api;
  rows = Array.from({ length: ROWS }, (_, r) => numbers(r));
  const learn = await upload(
    { name: "learn", classes: 3 },
    "csv",
    csv(
      [...COLUMNS, "label"],
      rows.slice(0, 300).map((x, r) => [...x, r % 3]),
    ),
  );
  const job = must(
    await t.api.post("/v1/jobs", {
      name: "mlp",
      kind: "train",
      spec: { dataset_id: learn, family: "mlp", hidden: [8], epochs: 1, seed: 1 },
    }),
    201,
  );
  await waitJob(t.api, job.job_id, ["COMPLETED"], 240_000);
  model = must(await t.api.post("/v1/models", { name: "mlp", job_id: job.job_id }), 201).model_id;
  bare = await upload(
    { name: "bare", target: "none" },
    "csv",
    csv(
      ["id", ...COLUMNS],
      rows.map((x, r) => [r, ...x]),
    ),
  );
  must(await t.api.post("/v1/deployments", { name: "mlp", model_id: model }), 201);
  await until(() => t.api.get("/v2/models/mlp/ready"), 200, 120_000);
}, 300_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const online = async (of: number[][]): Promise<any> => must(await t.api.post("/v2/models/mlp/infer", call(of)), 200);

test("rows without a label, in a table with more columns, say what the deployment says", async () => {
  const job = await done({ dataset_id: bare });
  expect(job.spec).toMatchObject({ model_version: 1, dataset_version: 1, target: "none", model_name: "mlp" });
  expect(job.result).toMatchObject({ rows: ROWS, columns: 4 });
  expect(job.result.accuracy).toBeUndefined();
  const listed = must(await t.api.get(`/v1/jobs/${job.job_id}/outputs`), 200).data;
  expect(listed).toMatchObject([{ name: "result", kind: "artifact", size_bytes: job.result.result_bytes }]);
  const [head, ...lines] = (await result(job.job_id)).trimEnd().split("\n");
  expect(head).toBe("probabilities_0,probabilities_1,probabilities_2,label");
  expect(lines.length).toBe(ROWS);
  const answer = await online(rows);
  const [probabilities, label] = ["probabilities", "label"].map(
    (name) => answer.outputs.find((o: any) => o.name === name).data as number[],
  );
  lines.forEach((line, r) => {
    const got = line.split(",").map(Number);
    expect(got.slice(0, 3).map(Math.fround)).toEqual(probabilities!.slice(3 * r, 3 * r + 3).map(Math.fround));
    expect(got[3]).toBe(label![r]);
  });
  const points = must(await t.api.get(`/v1/jobs/${job.job_id}/metrics`), 200).data;
  expect(points).toContainEqual(
    expect.objectContaining({ step: ROWS, values: expect.objectContaining({ rows_done: ROWS, rows: ROWS }) }),
  );
  must(await other.get(`/v1/jobs/${job.job_id}/outputs/result`), 404);
}, 180_000);

test("an array gives an array, and a label of the data set is judged", async () => {
  const label = (await online(rows.slice(0, 50))).outputs.find((o: any) => o.name === "label").data as number[];
  // The last column is the label: right for all rows but ten.
  const cells = Float64Array.from(rows.slice(0, 50).flatMap((x, r) => [...x, r < 10 ? (label[r]! + 1) % 3 : label[r]!]));
  const text = "{'descr': '<f8', 'fortran_order': False, 'shape': (50, 4), }".padEnd(117) + "\n";
  const head = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, 118, 0]);
  const npy = Buffer.concat([head, Buffer.from(text), Buffer.from(cells.buffer)]);
  const set = await upload({ name: "array", label_column: "3", classes: 3 }, "npy", npy);
  const job = await done({ dataset_id: set, result: "npy", keep: ["label"] });
  expect(job.result).toMatchObject({ rows: 50, columns: 1, accuracy: 0.8 });
  const path = join(dir, "got.npy");
  const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: t.token, HOME: dir, NO_COLOR: "1" };
  await new Promise<void>((ok, no) =>
    execFile(binary("falaj"), ["job", "download", job.job_id, "result", path], { env }, (e) => (e ? no(e) : ok())),
  );
  const made = readFileSync(path);
  const at = 10 + made.readUInt16LE(8);
  expect(made.subarray(10, at).toString()).toContain("'<f8', 'fortran_order': False, 'shape': (50, 1,)");
  expect(Array.from({ length: 50 }, (_, r) => made.readDoubleLE(at + 8 * r))).toEqual(label);
}, 180_000);

test("a request is answered as it is online: in the spec, and out of another job’s output", async () => {
  const want = await online(rows.slice(0, 4));
  const first = await done({ request: JSON.stringify(call(rows.slice(0, 4))) });
  expect(first.result).toMatchObject({ rows: 4, json_bytes: first.result.result_bytes });
  expect(JSON.parse(await result(first.job_id))).toEqual(want);
  // The answer of the first is no call, and is refused with what the model takes.
  const { job_id } = must(await submit({ request_from: `${first.job_id}/result` }), 201);
  const end = await waitJob(t.api, job_id, undefined, 240_000);
  expect([end.state, end.message]).toEqual(["FAILED", expect.stringContaining("the model takes input FP32[-1,3]")]);
}, 180_000);

test("falaj job submit --kind batch does it, and follows it to its end", async () => {
  const file = join(dir, "call.json");
  writeFileSync(file, JSON.stringify(call(rows.slice(7, 9))));
  const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: t.token, HOME: dir, NO_COLOR: "1" };
  const words = "job submit by-hand --kind batch --model mlp --wait -o json".split(" ").concat("--request", `@${file}`);
  const said = await new Promise<{ out: string; err: string; code: number }>((ok) =>
    execFile(binary("falaj"), words, { env }, (e, out, err) => ok({ out, err, code: e ? Number(e.code) : 0 })),
  );
  expect(said.code, said.err).toBe(0);
  const id = /job_[0-9a-f]{32}/.exec(said.out + said.err)![0];
  expect(JSON.parse(await result(id)).outputs).toEqual((await online(rows.slice(7, 9))).outputs);
});

test("what cannot be a batch is refused at its member, and of no other tenant", async () => {
  const pointer = async (spec: object, status: number, api = t.api): Promise<string> => {
    const reply = await submit(spec, api);
    expect(reply.status).toBe(status);
    return problemOf(reply).errors[0]!.pointer;
  };
  expect(await pointer({}, 400)).toBe("/spec/dataset_id");
  expect(await pointer({ dataset_id: bare, request: "{}" }, 400)).toBe("/spec/request");
  expect(await pointer({ request: "{}", keep: ["label"] }, 400)).toBe("/spec/keep");
  expect(await pointer({ dataset_id: bare, model_version: 9 }, 404)).toBe("/spec/model_id");
  expect(await pointer({ request_from: `job_${"0".repeat(32)}/result` }, 404)).toBe("/spec/request_from");
  expect(await pointer({ request: "{}" }, 404, other)).toBe("/spec/model_id");
  const few = await upload({ name: "few", target: "none" }, "csv", csv(["a", "b"], [[1, 2]]));
  const { job_id } = must(await submit({ dataset_id: few }), 201);
  const end = await waitJob(t.api, job_id, undefined, 240_000);
  expect([end.state, end.message]).toEqual(["FAILED", expect.stringContaining('there is no feature column "c"')]);
  expect(must(await t.api.get(`/v1/jobs/${job_id}/outputs`), 200).data).toEqual([]);
  const train = await t.api.post("/v1/jobs", { name: "x", kind: "train", spec: { dataset_id: bare } });
  expect([train.status, problemOf(train).errors[0]!.pointer]).toEqual([400, "/spec/dataset_id"]);
}, 180_000);
