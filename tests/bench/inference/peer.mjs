// SPDX-License-Identifier: Apache-2.0
// peer.mjs - ONNX Runtime's side of the bench: a line {"model","input","batch","threads","seconds"} on standard input is answered
// by a line with the median of its rounds and the processor time of a call; with "check", by the numbers of the first output for
// the input file, asked in one call, or with "each" in calls of so many rows.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import ort from 'onnxruntime-node';

const ROUNDS = 7;
const sessions = new Map();

/** A .npy of f4 or i8, as the models' writer makes it. */
function readNpy(path) {
  const bytes = readFileSync(path);
  const size = bytes.readUInt16LE(8);
  const head = bytes.subarray(10, 10 + size).toString('latin1');
  const shape = /'shape': \(([^)]*)\)/.exec(head)[1];
  const data = bytes.subarray(10 + size);
  const dims = shape.split(',').filter((d) => d.trim()).map(Number);
  const [type, Numbers] = head.includes("'<i8'") ? ['int64', BigInt64Array] : ['float32', Float32Array];
  return { dims, type, Numbers, data: new Numbers(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)) };
}

async function session(model, threads) {
  const key = `${model} ${threads}`;
  if (!sessions.has(key))
    sessions.set(
      key,
      await ort.InferenceSession.create(model, {
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        graphOptimizationLevel: 'all',
      }),
    );
  return sessions.get(key);
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const s = await session(ask.model, ask.threads);
  const { dims, type, Numbers, data } = readNpy(ask.input);
  const row = data.length / dims[0];
  const batch = ask.check ? (ask.each ?? dims[0]) : ask.batch;
  const x = Numbers.from({ length: batch * row }, (_, i) => data[i % data.length]);
  const feeds = { [s.inputNames[0]]: new ort.Tensor(type, x, [batch, ...dims.slice(1)]) };
  if (ask.check) {
    const out = [];
    for (let at = 0; at < dims[0]; at += batch) {
      const part = new ort.Tensor(type, data.slice(at * row, (at + batch) * row), [batch, ...dims.slice(1)]);
      for (const number of (await s.run({ [s.inputNames[0]]: part }))[s.outputNames[0]].data) out.push(number);
    }
    console.log(JSON.stringify({ out }));
    continue;
  }
  const from = performance.now();
  let calls = 0;
  while (performance.now() - from < 200) {
    await s.run(feeds);
    calls++;
  }
  const each = (performance.now() - from) / calls;
  const reps = Math.max(1, Math.round((ask.seconds * 1000) / ROUNDS / each));
  const us = [];
  const before = process.cpuUsage();
  for (let r = 0; r < ROUNDS; r++) {
    const began = performance.now();
    for (let k = 0; k < reps; k++) await s.run(feeds);
    us.push(((performance.now() - began) * 1000) / reps);
  }
  const { user, system } = process.cpuUsage(before);
  us.sort((a, b) => a - b);
  console.log(JSON.stringify({ us: us[ROUNDS >> 1], us_min: us[0], cpu_us: (user + system) / (ROUNDS * reps) }));
}
