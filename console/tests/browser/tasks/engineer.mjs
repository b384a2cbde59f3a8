// SPDX-License-Identifier: Apache-2.0
// engineer.mjs - the engineer's way: data in, a job, its end, the model served, an answer.
import { join } from 'node:path';
import { task } from '../steps.mjs';

await task('engineer', { pointer: 8, keys: 8 }, async (s, t) => {
  const set = s.own('rows');
  await s.click('link', s.word('nav.datasets'));
  await s.click('button', s.word('datasets.create'));
  await s.fill(s.word('col.name'), set);
  await s.fill(s.word('col.classes'), '10');
  await s.click('button', s.word('datasets.create'), { inside: s.page.getByRole('dialog') });
  await s.see('heading', set);
  await s.click('button', s.word('datasets.upload'));
  await s.attach(s.word('datasets.browse'), join(t.root, 'datasets/digits/digits.csv'));
  await s.click('button', s.word('datasets.upload'), { inside: s.page.getByRole('dialog') });
  await s.see('link', s.word('act.download'));
});
