// SPDX-License-Identifier: Apache-2.0
// paints.mjs - what an interaction costs until the page is painted again, as the time that the page's own thread worked, so that
// what else the machine does is not in it.
//
//   const { cpu, wall } = await paintCost(page, () => page.click('[role=tab]'));
//
// Chromium's trace gives each event a time by the clock of its thread (tts). An interaction begins with its first event
// (pointerdown, keydown), as Event Timing counts it, and ends with the first frame that is handed over after an event of it. The
// browser's own slowing down is not used: it waits on that thread, which then counts what else the machine does. A slower
// processor is a factor.
const EVENTS = new Set([
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'keydown',
  'keypress',
  'keyup',
  'input',
  'change',
]);
const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'];

/** act does one interaction; what it leads to is waited for after it, untraced. */
export async function paintCost(page, act) {
  const browser = page.context().browser();
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done, { timeout: 2000 })));
  await browser.startTracing(page, { categories: CATEGORIES });
  let trace;
  try {
    await act();
    await page.evaluate(async () => {
      for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(() => done()));
    });
  } finally {
    trace = await browser.stopTracing();
  }
  return costOf(JSON.parse(trace.toString()).traceEvents);
}

/** The dearest of its parts (press, release with click, key): Event Timing judges each by itself and takes the longest. */
export function costOf(events) {
  const dispatched = events
    .filter((e) => e.name === 'EventDispatch' && e.ph === 'X' && EVENTS.has(e.args.data?.type))
    .sort((a, b) => a.ts - b.ts);
  if (dispatched.length === 0) throw new Error('the trace has no event of an interaction');
  const main = dispatched[0];
  const own = events.filter((e) => e.pid === main.pid && e.tid === main.tid);
  const frames = own.filter((e) => e.name === 'Commit' && e.ph === 'X').sort((a, b) => a.ts - b.ts);
  let worst = { cpu: 0, wall: 0, event: '' };
  for (const first of dispatched) {
    const frame = frames.find((f) => f.ts >= first.ts + first.dur);
    if (!frame) continue;
    const cpu = (frame.tts + (frame.tdur ?? 0) - first.tts) / 1000;
    const wall = (frame.ts + frame.dur - first.ts) / 1000;
    if (cpu > worst.cpu) worst = { cpu, wall, event: first.args.data.type };
  }
  if (worst.event === '') throw new Error('no frame followed the interaction');
  return worst;
}
