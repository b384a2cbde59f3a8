// SPDX-License-Identifier: Apache-2.0
// calls.ts - what a page shows, as a line for a shell: quoted so that no name of a filter can end the quotes.
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));

/** "GET /v1/jobs?state=RUNNING" as a call of curl. */
export function curl(call: string, origin: string): string {
  const at = call.indexOf(' ');
  const method = call.slice(0, at),
    path = call.slice(at + 1);
  const verb = method === 'GET' ? '' : `-X ${method} `;
  const key = method === 'POST' ? `-H "Idempotency-Key: $(uuidgen)" ` : '';
  return `curl ${verb}-H "Authorization: Bearer $FALAJ_TOKEN" ${key}${quoted(origin + path)}`;
}
/** A command with the flags that have a value. */
export function commandLine(command: string, flags: Record<string, string | number | undefined> = {}): string {
  const out = [command];
  for (const [flag, value] of Object.entries(flags))
    if (value !== undefined && value !== '') out.push(`--${flag} ${word(String(value))}`);
  return out.join(' ');
}
