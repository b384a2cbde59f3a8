// SPDX-License-Identifier: Apache-2.0
// invitation.ts - the token of an invitation is taken out of the address before anything is drawn or asked for: it stays in no history,
// goes into no log and no Referer. The links that the console makes carry it behind #, which a browser never sends.
export interface Invitation {
  token: string;
  tenant: string;
}

function take(): Invitation | null {
  if (location.pathname !== '/accept') return null;
  const query = new URLSearchParams(location.search);
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? query.get('token') ?? '';
  const tenant = query.get('tenant') ?? '';
  history.replaceState(null, '', tenant === '' ? '/accept' : `/accept?tenant=${encodeURIComponent(tenant)}`);
  return { token, tenant };
}
export const invitation: Invitation | null = take();

export const invitationLink = (tenant: string, token: string): string =>
  `${location.origin}/accept?tenant=${encodeURIComponent(tenant)}#token=${encodeURIComponent(token)}`;
