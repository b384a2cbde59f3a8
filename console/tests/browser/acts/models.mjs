// SPDX-License-Identifier: Apache-2.0
// models.mjs - a model's way through the console alone: made smaller from its own page, registered as the next version with
// its report, rolled to, and rolled back.
import { until } from '../platform.mjs';
import { acts, Hand } from '../hand.mjs';

export async function smaller(t) {
  const engineer = await Hand.of(t, 'engineer');
  const served = async () => (await t.tenant('GET', `/v1/deployments/${t.ids.served}`)).model_version;
  const roll = async (h, to) => {
    await h.opens('deploy.roll');
    await h.submit({ model_version: String(to) });
    await until(`version ${to}`, async () => (await served()) === to, 120_000);
    await h.page
      .getByText(h.word('deploy.version', { n: String(to) }))
      .first()
      .waitFor();
  };
  await acts(t, engineer, [
    [
      'make it smaller from its page, and register what came of it',
      async (h) => {
        await h.go(`/models/${t.ids.model}`);
        await h.click('link', h.word('models.optimise'));
        await h.page.locator('#f-spec-dataset_id').waitFor();
        h.same('the model', await h.page.locator('#f-spec-model_id').inputValue(), t.ids.model);
        h.same('the kind', await h.page.locator('#f-kind').inputValue(), 'optimise');
        await h.page.locator('#f-spec-dataset_id').selectOption(t.ids.set);
        await h.page.locator('#f-spec-max_accuracy_drop').fill('0.5');
        await h.press('submit.go');
        await h.page.waitForURL(/\/jobs\/job_/);
        await h.opens('models.register');
        // It is the next version of what it was made of, and nobody has to know the name.
        h.same('its name', await h.dialog.locator('[name="name"]').inputValue(), 'digits');
        await h.submit();
        await h.page.waitForURL(new RegExp(t.ids.model));
        await h.sees(h.word('models.report'));
        const text = await h.page.locator('[aria-labelledby="report-title"]').innerText();
        for (const row of ['accuracy', 'latency', 'file', 'memory'])
          if (!text.includes(h.word(`models.r_${row}`))) h.fault(`the report has no ${row}: ${text}`);
      },
    ],
    [
      'find a job of any kind that makes a model',
      async (h) => {
        await h.opens('models.registerNext');
        await h.dialog.locator('#register-kind').selectOption('optimise');
        await h.dialog.getByRole('radio').first().waitFor();
        h.same('jobs of that kind', await h.dialog.getByRole('radio').count(), 1);
        await h.page.keyboard.press('Escape');
        await h.gone();
      },
    ],
    [
      'roll to it and back',
      async (h) => {
        await h.go(`/deployments/${t.ids.served}`);
        await roll(h, 2);
        await roll(h, 1);
      },
    ],
  ]);
}
