// SPDX-License-Identifier: Apache-2.0
// names.ts - the names behind ids of users and projects, read once in pages of 200; an id that is not among the first stays as it is.
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { shortId } from '../../ui/bits.tsx';
import { titleOf } from '../../lib/titles.ts';

export interface Names {
  user: (id: string) => string;
  project: (id: string) => string;
}
export function useNames(): Names {
  const { can } = useSession();
  const users = useGet('/v1/users', { page_size: 200, sort: 'name' }, { enabled: can('user:read') });
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  return {
    user: (id) => users.data?.data.find((u) => u.user_id === id)?.name ?? shortId(id),
    project: (id) => titleOf(projects.data?.data.find((p) => p.project_id === id)) || shortId(id),
  };
}
