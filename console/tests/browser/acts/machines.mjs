// SPDX-License-Identifier: Apache-2.0
// machines.mjs - a join token is made and withdrawn; the one machine is shut out and let in again, after which nothing else runs here.
import { until } from '../platform.mjs';
import { acts, W } from '../hand.mjs';

export async function machines(t, operator) {
  const node = (await t.platform('GET', '/v1/nodes')).data[0];
  const state = async () => (await t.platform('GET', `/v1/nodes/${node.node_id}`)).state;
  await acts(t, operator, [
    [
      'make a join token and withdraw it',
      async (h) => {
        await h.go('/workers/join');
        await h.press('join.new');
        await h.submit({ zone: t.ids.zone, node_name: 'gpu-9', uses: '2', expires_in_minutes: '30' });
        const text = await h.dialog.locator('.join-lines code, .join-lines pre').first().innerText();
        await h.press('confirm.kept', h.dialog);
        const mine = async () => (await t.platform('GET', '/v1/join-tokens')).data.find((k) => k.node_name === 'gpu-9');
        const made = await mine();
        if (made?.uses !== 2 || text.length < 20) throw new Error(`${text} ${JSON.stringify(made)}`);
        await h.confirm('join.revoke', made.hint, { inside: h.row('gpu-9') });
        if (!(await mine()).revoked_at) throw new Error('it is not withdrawn');
        await h.row('gpu-9').getByText(h.word('value.revoked')).waitFor();
      },
    ],
    [
      'add an engine with faults at their fields, pause it and remove it',
      async (h) => {
        const mine = async () => (await t.platform('GET', '/v1/engines')).data.find((g) => g.name === 'cluster-7');
        await h.go('/engines');
        await h.sees(W('engines.none'));
        await h.opens('engines.add');
        const form = { name: 'cluster-7', kind: 'kubernetes', address: 'https://127.0.0.1:9' };
        const wrong = {
          ...{ name: 'Cluster 7', address: 'ftp://there', image: 'worker:latest', node_selector: 'gpu' },
          ...{ tolerations: 'gpu=yes:PreferNoExecute', machines: '0' },
        };
        const said = await h.submit({ ...form, ...wrong }).then(
          () => '',
          (e) => e.message,
        );
        for (const name of Object.keys(wrong))
          if (!(await h.dialog.locator(`[name="${name}"][aria-invalid=true]`).count()))
            h.fault(`${name} is let through: ${said}`);
        if (await mine()) throw new Error('it was added with faults');
        h.expect(400);
        for (const [name, value] of Object.entries({
          ...form,
          image: '',
          node_selector: '',
          tolerations: '',
          machines: '4',
        }))
          await (name === 'kind'
            ? h.dialog.locator(`[name="${name}"]`).selectOption(value)
            : h.dialog.locator(`[name="${name}"]`).fill(value));
        await h.send('engines.add');
        if (!(await h.refused('engines.image')).includes('is needed for kubernetes'))
          h.fault('why is not told at the field');
        await h.dialog.locator('[name="image"]').fill(`registry.example/w@sha256:${'0'.repeat(64)}`);
        await h.send('engines.add');
        if (!(await h.refused('engines.account')).includes('namespace')) h.fault('the namespace is not asked for');
        await h.dialog.locator('[name="account"]').fill('runs');
        await h.send('engines.add');
        if (!(await h.refused('engines.credential')).includes('is needed')) h.fault('the credential is not asked for');
        const right = { credential: 'cluster-7.pem', node_selector: 'gpu=h100', tolerations: 'gpu:PreferNoSchedule' };
        for (const [name, value] of Object.entries(right)) await h.dialog.locator(`[name="${name}"]`).fill(value);
        await h.send('engines.add');
        await h.gone();
        h.expect();
        h.same('its machines', [(await mine()).machines, (await mine()).kind], [4, 'kubernetes']);
        await h.opens('engines.pause', h.row('cluster-7'));
        await h.submit();
        if ((await mine()).enabled) throw new Error('it is not paused');
        await h.opens('engines.resume', h.row('cluster-7'));
        await h.submit();
        if (!(await mine()).enabled) throw new Error('it is still paused');
        await h.confirm('engines.remove', 'cluster-7', { inside: h.row('cluster-7') });
        if (await mine()) throw new Error('it is not removed');
        await h.row('cluster-7').waitFor({ state: 'detached' });
      },
    ],
    [
      'shut a machine out and let it in',
      async (h) => {
        await h.go(`/workers/${node.node_id}`);
        await h.confirm('workers.quarantine', node.name, { reason: 'a strange image' });
        if ((await state()) !== 'QUARANTINED') throw new Error(await state());
        await h.press('workers.release');
        await h.submit({ reason: 'the image was right' });
        await until('the machine to be back', async () => (await state()) === 'READY', 20_000);
      },
    ],
  ]);
}
