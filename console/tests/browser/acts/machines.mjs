// SPDX-License-Identifier: Apache-2.0
// machines.mjs - a join token is made and withdrawn; the one machine is shut out and let in again, after which nothing else runs here.
import { until } from '../platform.mjs';
import { acts } from '../hand.mjs';

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
