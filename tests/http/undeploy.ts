// SPDX-License-Identifier: Apache-2.0
// undeploy.ts - at the end of each file: the files of a group share a machine, and what one left deployed would keep its slots
// from those behind it.
import { afterAll } from 'vitest';
import { administrators } from './harness.ts';

afterAll(async () => {
  for (const admin of administrators)
    try {
      const { json } = await admin.get('/v1/deployments');
      for (const d of json?.data ?? []) await admin.delete(`/v1/deployments/${d.deployment_id}`);
    } catch {
      // Its platform has ended, and its machine with it.
    }
});
