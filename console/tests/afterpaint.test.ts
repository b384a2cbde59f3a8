// SPDX-License-Identifier: Apache-2.0
// afterpaint.test.ts - another page waits for the painting, the same page does not, and the last of two clicks counts.
import { createMemoryHistory } from '@tanstack/react-router';
import { expect, test } from 'vitest';
import { paintFirst } from '../src/lib/afterpaint.ts';

function start() {
  const waiting = new Set<() => void>();
  const history = paintFirst(createMemoryHistory({ initialEntries: ['/jobs?q=a'] }), (act) => {
    waiting.add(act);
    return () => void waiting.delete(act);
  });
  const paint = (): void => {
    for (const act of waiting) act();
    waiting.clear();
  };
  return { history, paint };
}

test('another page is gone to after the painting', () => {
  const { history, paint } = start();
  history.push('/datasets');
  expect(history.location.href).toBe('/jobs?q=a');
  paint();
  expect(history.location.href).toBe('/datasets');
  paint();
  expect(history.length).toBe(2);
});

test('the address of the same page changes at once', () => {
  const { history } = start();
  history.push('/jobs?q=ab');
  expect(history.location.href).toBe('/jobs?q=ab');
  history.replace('/jobs?q=abc');
  expect(history.location.href).toBe('/jobs?q=abc');
});

test('of two clicks in one frame the second counts, and one on this page takes back what waits', () => {
  const { history, paint } = start();
  history.push('/datasets');
  history.push('/models');
  paint();
  expect(history.location.href).toBe('/models');
  history.push('/jobs');
  history.push('/models?q=x');
  paint();
  expect(history.location.href).toBe('/models?q=x');
});
