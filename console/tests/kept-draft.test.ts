// SPDX-License-Identifier: Apache-2.0
// kept-draft.test.ts - a draft belongs to one person and place, and nothing that cannot be read is taken for one.
import { expect, test } from 'vitest';
import { DRAFT_MAX, readDraft, writeDraft } from '../src/lib/kept-draft.ts';

function store() {
  const all = new Map<string, string>();
  return {
    all,
    getItem: (k: string) => all.get(k) ?? null,
    setItem: (k: string, v: string) => void all.set(k, v),
    removeItem: (k: string) => void all.delete(k),
  };
}

test('what was written is read by the same person at the same place only', () => {
  const s = store();
  writeDraft(s, 'usr_1', 'job', 'name: one', new Date('2026-11-23T15:02:41Z'));
  expect(readDraft(s, 'usr_1', 'job')).toEqual({ text: 'name: one', at: '2026-11-23T15:02:41.000Z' });
  expect(readDraft(s, 'usr_2', 'job')).toBeNull();
  expect(readDraft(s, 'usr_1', 'job.job_9')).toBeNull();
  writeDraft(s, 'usr_1', 'job', null);
  expect(s.all.size).toBe(0);
});
test('a text longer than any request drops the one before, which is old by then', () => {
  const s = store();
  writeDraft(s, 'usr_1', 'job', 'x'.repeat(DRAFT_MAX));
  expect(readDraft(s, 'usr_1', 'job')?.text).toHaveLength(DRAFT_MAX);
  writeDraft(s, 'usr_1', 'job', 'x'.repeat(DRAFT_MAX + 1));
  expect(readDraft(s, 'usr_1', 'job')).toBeNull();
});
test.each(['', '{', '[]', '"text"', '{"text":1,"at":"x"}', '{"text":"a"}'])('%j is no draft', (raw) => {
  const s = store();
  s.all.set('falaj.draft.usr_1.job', raw);
  expect(readDraft(s, 'usr_1', 'job')).toBeNull();
});
