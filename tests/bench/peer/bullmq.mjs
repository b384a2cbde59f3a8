// SPDX-License-Identifier: Apache-2.0
// bullmq.mjs - the durable job queue that Falaj is measured beside: BullMQ, which a Redis with appendfsync always keeps.
//
//   add SECONDS CONNECTIONS    that many producers, each with one job on its way; a line {"t0", "n"} when all are in
//   pace RATE SECONDS          jobs at a steady rate; the same line
//   work CONCURRENCY           prints {"ready"}; once a line with the number of jobs came by stdin and they are done: {"t1", "p50", "p99"}
// Times are of CLOCK_MONOTONIC in ms, which all processes share. REDIS_PORT names the server; a job carries when its add began.
import { createInterface } from 'node:readline';
import { Queue, Worker } from 'bullmq';

const [mode, a, b] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const now = () => Number(process.hrtime.bigint()) / 1e6;
const say = (o) => process.stdout.write(`${JSON.stringify(o)}\n`);
const job = { name: 'finetune-llama-8b-ar', kind: 'noop', pool: 'default', slots: 1, priority: 50, tenant: 17 };
const keep = { removeOnComplete: true, removeOnFail: true };
const add = (q) => q.add('noop', { ...job, t: now() }, keep);

async function producers(q) {
  const t0 = now();
  let n = 0;
  await Promise.all(Array.from({ length: b }, async () => {
    while (now() - t0 < a * 1000) {
      await add(q);
      n++;
    }
  }));
  return { t0, n };
}

async function paced(q) {
  const t0 = now();
  const all = [];
  for (let i = 0; i < a * b; i++) {
    await new Promise((r) => setTimeout(r, Math.max(0, t0 + (i * 1000) / a - now())));
    all.push(add(q));
  }
  await Promise.all(all);
  return { t0, n: all.length };
}

async function work() {
  const took = [];
  let wanted = Infinity;
  let t1 = 0;
  const w = new Worker('bench', async () => ({ ok: true }), { connection, concurrency: a });
  const check = async () => {
    if (took.length < wanted)
      return;
    took.sort((x, y) => x - y);
    say({ t1, p50: took[took.length >> 1], p99: took[Math.floor(took.length * 0.99)] });
    await w.close();
    process.exit(0);
  };
  w.on('completed', (j) => {
    t1 = now();
    took.push(t1 - j.data.t);
    void check();
  });
  w.on('error', (e) => {
    console.error(e);
    process.exit(1);
  });
  await w.waitUntilReady();
  createInterface({ input: process.stdin }).on('line', (l) => {
    wanted = Number(l);
    void check();
  });
  say({ ready: true });
}

if (mode === 'work') {
  await work();
} else {
  const q = new Queue('bench', { connection });
  await q.waitUntilReady();
  say(mode === 'add' ? await producers(q) : await paced(q));
  await q.close();
}
