// SPDX-License-Identifier: Apache-2.0
// programs.mjs - what programs of people need: the idle rule, queues and secrets. Each button is pressed, and the API is asked
// what has become of it.
import { acts, Hand } from '../hand.mjs';

export async function programs(t) {
  const admin = await Hand.of(t, 'admin');
  const project = await t.tenant('POST', '/v1/projects', { name: 'idle-ones', display_name: 'Idle ones' });
  const rule = () => t.tenant('GET', '/v1/idle-policy');
  const named = async (path, name) => (await t.tenant('GET', path)).data.find((x) => x.name === name);
  await acts(t, admin, [
    [
      'set the idle rule, and minutes of one project',
      async (h) => {
        await h.go('/quotas?tab=idle');
        await h.opens('idle.change');
        await h.dialog.locator('[name="after"]').fill('3');
        await h.send('idle.change');
        await h.refused('idle.after');
        await h.submit({ after: '45', notice: '15' });
        h.same('the rule', [(await rule()).after_minutes, (await rule()).notice_minutes], [45, 15]);
        await h.opens('idle.add');
        await h.submit({ project: project.project_id, after: '0' });
        h.same('the exception', (await rule()).projects, [`${project.project_id}=0`]);
        await h.sees(h.word('idle.never'));
        await h.opens('idle.drop');
        await h.submit();
        h.same('no exception', (await rule()).projects ?? [], []);
      },
    ],
    [
      'declare a queue, stop it, open it and remove it',
      async (h) => {
        const mine = () => named('/v1/queues', 'acts-queue');
        await h.go('/queues');
        await h.opens('queues.declare');
        await h.submit({ name: 'acts-queue', mode: 'StrictFIFO' });
        h.same('its order', (await mine()).mode, 'StrictFIFO');
        await h.opens('queues.edit', h.row('acts-queue'));
        await h.submit({ stop_policy: 'Hold' });
        h.same('it is held', (await mine()).stop_policy, 'Hold');
        await h.row('acts-queue').getByText(h.word('queues.Hold')).waitFor();
        await h.click('link', 'acts-queue');
        await h.sees(h.word('queues.Hold'));
        await h.sees(h.word('queues.StrictFIFO'));
        await h.go('/queues');
        await h.confirm('queues.remove', 'acts-queue', { inside: h.row('acts-queue') });
        if (await mine()) throw new Error('it is not removed');
      },
    ],
    [
      'add a secret, set it anew, disable and remove it',
      async (h) => {
        const mine = () => named('/v1/secrets', 'acts-secret');
        await h.go('/secrets');
        await h.opens('secrets.add');
        await h.submit({ name: 'acts-secret', value: 'the-first-value' });
        h.same('its version', (await mine()).latest_version, 1);
        await h.opens('secrets.set', h.row('acts-secret'));
        await h.submit({ value: 'the-second-value' });
        h.same('its next version', (await mine()).latest_version, 2);
        await h.opens('secrets.disable', h.row('acts-secret'));
        await h.submit();
        h.same('it is disabled', (await mine()).state, 'DISABLED');
        await h.opens('secrets.enable', h.row('acts-secret'));
        await h.submit();
        h.same('it is enabled', (await mine()).state, 'ACTIVE');
        await h.confirm('secrets.remove', 'acts-secret', { inside: h.row('acts-secret') });
        if (await mine()) throw new Error('it is not removed');
      },
    ],
  ]);
}
