// SPDX-License-Identifier: Apache-2.0
// Idle.tsx - for how long jobs of the organisation may hold what they do not use, and projects with minutes of their own. The
// whole rule is set each time, so each change begins with what is in force.
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Id, Name, Pairs } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { formFields } from '../../ui/form.tsx';
import { Answer } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';

type Policy = Schemas['idle_policy'];
const PATH = '/v1/idle-policy';
/** 0, for ever, or 5 to 43,200. */
const MINUTES = /^(0|[5-9]|[1-9]\d{1,3}|[1-3]\d{4}|4[0-2]\d{3}|43[01]\d{2}|43200)$/;

/** Projects of the rule with their minutes. */
export const exceptionsOf = (policy: Pick<Policy, 'projects'>): [string, number][] =>
  (policy.projects ?? []).map((text) => {
    const [id = '', minutes = ''] = text.split('=');
    return [id, Number(minutes)];
  });
export const withException = (policy: Pick<Policy, 'projects'>, id: string, minutes: number | undefined): string[] => [
  ...exceptionsOf(policy)
    .filter(([other]) => other !== id)
    .map(([other, of]) => `${other}=${of}`),
  ...(minutes === undefined ? [] : [`${id}=${minutes}`]),
];

export function Idle() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const query = useGet(PATH);
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const isMine = can('project:manage');
  const all = projects.data?.data ?? [];
  const nameOf = (id: string): string => titleOf(all.find((p) => p.project_id === id)) || id;
  const words = (minutes: number): string =>
    minutes === 0 ? t('idle.never') : t('idle.minutes', { count: minutes, n: number(minutes) });
  const set = async (policy: Policy): Promise<void> => {
    await change('PUT', PATH, policy);
    toast(t('idle.isSet'));
    await forget(PATH);
  };
  const minutes = {
    kind: 'number',
    required: true,
    min: 0,
    max: 43_200,
    pattern: MINUTES,
    help: t('idle.minutesHelp'),
  } as const;
  const rule = formFields(
    { ...minutes, name: 'after', label: t('idle.after') },
    {
      name: 'notice',
      label: t('idle.notice'),
      kind: 'number',
      required: true,
      min: 1,
      max: 1440,
      pattern: /^\d+$/,
      help: t('idle.noticeHelp'),
    },
  );
  const exception = formFields(
    {
      name: 'project',
      label: t('thing.project'),
      kind: 'select',
      required: true,
      options: all.map((p) => ({ value: p.project_id!, label: titleOf(p) })),
    },
    { ...minutes, name: 'after', label: t('idle.after') },
  );
  return (
    <Answer of={query}>
      {(policy) => (
        <>
          <p className="lead">{t('idle.lead')}</p>
          <Pairs
            rows={[
              [t('idle.after'), words(policy.after_minutes)],
              [
                t('idle.notice'),
                t('idle.minutes', { count: policy.notice_minutes, n: number(policy.notice_minutes ?? 0) }),
              ],
            ]}
          />
          {isMine && (
            <span className="acts">
              <FormButton
                label={t('idle.change')}
                title={t('idle.change')}
                fields={rule}
                initial={{ after: String(policy.after_minutes), notice: String(policy.notice_minutes ?? '') }}
                onSubmit={(v) => set({ ...policy, after_minutes: Number(v.after), notice_minutes: Number(v.notice) })}
              />
              {all.length > 0 && (
                <FormButton
                  variant="secondary"
                  label={t('idle.add')}
                  title={t('idle.add')}
                  fields={exception}
                  initial={{ project: all[0]!.project_id!, after: '0' }}
                  onSubmit={(v) => set({ ...policy, projects: withException(policy, v.project, Number(v.after)) })}
                />
              )}
            </span>
          )}
          <h2 className="block">{t('idle.exceptions')}</h2>
          {exceptionsOf(policy).length === 0 ? (
            <p className="lead">{t('idle.none')}</p>
          ) : (
            <ul className="rows">
              {exceptionsOf(policy).map(([id, of]) => (
                <li key={id}>
                  <span>
                    {nameOf(id) === id ? <Id value={id} /> : <Name>{nameOf(id)}</Name>} {words(of)}
                  </span>
                  {isMine && (
                    <FormButton
                      variant="link"
                      label={t('idle.drop')}
                      title={t('idle.drop')}
                      fields={[]}
                      lead={<p className="effect">{t('idle.dropEffect', { name: `\u2068${nameOf(id)}\u2069` })}</p>}
                      onSubmit={() => set({ ...policy, projects: withException(policy, id, undefined) })}
                    />
                  )}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Answer>
  );
}
