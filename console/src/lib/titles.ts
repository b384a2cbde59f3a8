// SPDX-License-Identifier: Apache-2.0
// titles.ts - what a thing is called for people, in the reader's language: tenants, projects, data sets and models have a name in
// English and one in Arabic beside the short name that programs use.
import i18next from 'i18next';

export interface Called {
  name?: string | undefined;
  display_name?: string | undefined;
  display_name_ar?: string | undefined;
}
/** The short name where there is no other; a page that uses it is drawn again when its language changes. */
export function titleOf(x: Called | undefined, lang: string = i18next.language): string {
  const own = lang === 'ar' ? x?.display_name_ar : '';
  return own || x?.display_name || x?.name || '';
}
interface Mine {
  tenant?: string | undefined;
  tenant_display_name?: string | undefined;
  tenant_display_name_ar?: string | undefined;
}
/** The organisation of who is signed in. */
export const organisationOf = (me: Mine): string =>
  titleOf({ name: me.tenant, display_name: me.tenant_display_name, display_name_ar: me.tenant_display_name_ar });
