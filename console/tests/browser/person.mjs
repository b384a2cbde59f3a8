// SPDX-License-Identifier: Apache-2.0
// person.mjs - what a person of the tenant does beside the browser: changes through the API, with a session as the console has.
import { PASSWORD } from './platform.mjs';

/** Somebody signs in as a browser does; what comes back makes that person's changes. */
export async function as(t, name) {
  const headers = { 'content-type': 'application/json', origin: new URL(t.base).origin };
  const send = (path, body, more = {}) =>
    fetch(`${t.base}${path}`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': crypto.randomUUID(), ...more },
      body: JSON.stringify(body),
    });
  const login = await send('/v1/auth/login', { tenant: 'palm', name, password: PASSWORD });
  const cookie = login.headers
    .getSetCookie()
    .map((c) => c.split(';')[0])
    .join('; ');
  const session = await login.json();
  return async (path, body) => {
    const r = await send(path, body, { cookie, 'x-csrf-token': session.csrf_token });
    if (!r.ok) throw new Error(`${name} POST ${path}: ${r.status} ${await r.text()}`);
    return r.json();
  };
}
