// SPDX-License-Identifier: Apache-2.0
// engineer.mjs - the engineer's day: data goes in, a job diverges, why is read off, it runs again and ends well while one watches,
// its model is registered and served, and answers.
import { join } from 'node:path';
import { task } from '../steps.mjs';

await task('engineer', { pointer: 25, keys: 25 }, async (s, t) => {
  const dialog = () => s.page.getByRole('dialog').last();
  const set = s.own('rows');
  await s.click('link', s.word('nav.datasets'));
  await s.click('button', s.word('nav.newDataset'));
  await s.fill(s.word('col.short'), set, { inside: dialog() });
  await s.fill(s.word('col.classes'), '10', { inside: dialog() });
  await s.click('button', s.word('nav.newDataset'), { inside: dialog() });
  await s.see('heading', set);
  await s.click('button', s.word('datasets.upload'));
  await s.attach(s.word('datasets.browse'), join(t.root, 'datasets/digits/digits.csv'));
  await s.click('button', s.word('datasets.upload'), { inside: dialog() });

  // A rate at which the loss is no number after a few steps: the worker refuses to go on.
  const job = s.own('job');
  await s.click('link', s.word('datasets.train'));
  await s.fill(s.word('submit.f_name'), job);
  await s.fill(s.word('submit.f_learning_rate'), '10');
  await s.click('button', s.word('submit.more'));
  await s.choose(s.word('submit.f_optimizer'), s.word('submit.o_sgd'));
  await s.click('button', s.word('submit.go'));
  await s.see('heading', job);
  await s.page.getByText(s.word('value.FAILED'), { exact: true }).first().waitFor({ timeout: 60_000 });
  // Its log is what is open of it then: the line that says why is one press away, whatever else the log has.
  await s.click('button', s.word('log.firstError'));
  await s.page
    .locator('.log-line[aria-current]', { hasText: /error: the job failed: the loss is no longer a number/ })
    .waitFor({ timeout: 30_000 });
  await s.click('link', s.word('job.again'));
  await s.fill(s.word('submit.f_learning_rate'), '0.01');
  await s.click('button', s.word('submit.go'));
  await s.page.getByText(s.word('value.COMPLETED'), { exact: true }).first().waitFor({ timeout: 60_000 });

  const model = s.own('model');
  await s.click('button', s.word('models.register'));
  await s.fill(s.word('col.name'), model, { inside: dialog() });
  await s.click('button', s.word('models.register'), { inside: dialog() });
  await s.see('heading', model);
  await s.click('button', s.word('deploy.create'));
  await s.click('button', s.word('deploy.create'), { inside: dialog() });
  await s.click('button', s.word('play.sample'));
  await s.page.waitForFunction(() => /[1-9]/.test(document.querySelector('#play-input')?.value ?? ''));
  await s.click('button', s.word('play.ask'));
  await s.see('text', s.word('play.truth'));
});
