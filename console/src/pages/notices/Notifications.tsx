// SPDX-License-Identifier: Apache-2.0
// Notifications.tsx - who is told of what: the organisation's rules, and what was sent, waits or was given up.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NOTICE_RULE_NEW_EVENTS, NOTICE_OWN_IN_EVENTS } from '../../api/gen/enums.ts';
import { change, get, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, shortId, State, Time } from '../../ui/bits.tsx';
import { FormButton, OnceSecret, TypedConfirm } from '../../ui/dialogs.tsx';
import { formFields, type Field } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { PageTabs, useTab, type Part } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { OwnNotices } from './Own.tsx';

type Rule = Schemas['notice_rule'];
type Event = (typeof NOTICE_RULE_NEW_EVENTS)[number];
const HOUR = 60;

/** One box for each event: what is ticked is told. */
export const eventFields = (t: (k: string) => string, events: readonly Event[]): Field[] =>
  events.map((e) => ({ name: `on_${e}`, label: t(`notify.${e}`), kind: 'check' }));
export const eventsOf = (v: Record<string, unknown>, events: readonly Event[]): Event[] =>
  events.filter((e) => v[`on_${e}`] === true);
export const ticked = (events: readonly string[]): Record<string, boolean> =>
  Object.fromEntries(events.map((e) => [`on_${e}`, true]));

function useMembers() {
  const { can } = useSession();
  return useGet(
    '/v1/users',
    { kind: 'person', state: 'ACTIVE', page_size: 200 },
    { enabled: can('user:read') && can('notification:manage') },
  );
}
/** The values of a rule's form as the rule has them. */
const valuesOfRule = (r: Record<string, unknown>): Record<string, unknown> => ({
  ...r,
  ...ticked(r['events'] as string[]),
  ...Object.fromEntries(((r['recipients'] ?? []) as string[]).map((u) => [`to_${u}`, true])),
});

/** The fields of a rule; those of its way (url, people) last. */
function useFields(kind: Rule['kind'], to: readonly string[] = []) {
  const { t } = useTranslation();
  const users = useMembers();
  const members = users.data?.data ?? [];
  // Who gets it now and is not among the members that were read stays a box of their own: saving loses nobody.
  const others = users.isLoading ? [] : to.filter((id) => !members.some((u) => u.user_id === id));
  const way: Field[] =
    kind === 'webhook'
      ? [
          {
            name: 'url',
            label: t('notify.url'),
            required: true,
            pattern: /^https?:\/\/\S+$/,
            help: t('notify.urlHelp'),
          },
        ]
      : [...members, ...others.map((user_id) => ({ user_id, name: shortId(user_id) }))].map((u) => ({
          name: `to_${u.user_id}`,
          label: u.name,
          kind: 'check' as const,
        }));
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, max: 64 },
    ...way,
    ...eventFields(t, NOTICE_RULE_NEW_EVENTS),
    { name: 'wait_minutes', label: t('notify.wait'), kind: 'number', min: 1, help: t('notify.waitHelp') },
  );
  return { fields, ready: kind === 'webhook' || !users.isLoading };
}
const bodyOfRule = (kind: Rule['kind'], v: Record<string, unknown>) => ({
  name: String(v['name']),
  events: eventsOf(v, NOTICE_RULE_NEW_EVENTS),
  wait_minutes: Number(v['wait_minutes']) || HOUR,
  ...(kind === 'webhook'
    ? { url: String(v['url']) }
    : {
        recipients: Object.keys(v)
          .filter((k) => k.startsWith('to_') && v[k] === true)
          .map((k) => k.slice('to_'.length)),
      }),
});

function NewRule({ kind, onSecret }: { kind: Rule['kind']; onSecret?: (s: string) => void }) {
  const { t } = useTranslation();
  const forget = useForget();
  const { fields, ready } = useFields(kind);
  return (
    <FormButton
      ready={ready}
      variant={kind === 'webhook' ? 'primary' : 'secondary'}
      label={t(kind === 'webhook' ? 'notify.newWebhook' : 'notify.newMail')}
      title={t(kind === 'webhook' ? 'notify.newWebhook' : 'notify.newMail')}
      lead={<p className="effect">{t(kind === 'webhook' ? 'notify.webhookLead' : 'notify.mailLead')}</p>}
      opens={kind}
      fields={fields}
      initial={{ wait_minutes: String(HOUR), ...ticked(['job-failed']) }}
      onSubmit={async (v) => {
        const made = await change('POST', '/v1/notifications', {
          kind,
          ...bodyOfRule(kind, v as Record<string, unknown>),
        });
        await forget('/v1/notifications');
        if (made.secret) onSecret?.(made.secret);
      }}
    />
  );
}

function Acts({ rule: r, onSecret }: { rule: Rule; onSecret: (s: string) => void }) {
  const { t } = useTranslation();
  const forget = useForget();
  const { fields, ready } = useFields(r.kind, r.recipients);
  const set = async (state: Rule['state']): Promise<void> => {
    await change('PATCH', `/v1/notifications/${r.notification_id}`, { state }, { 'if-match': `"v${r.version}"` });
    await forget('/v1/notifications');
  };
  return (
    <span className="acts">
      <FormButton
        variant="link"
        label={t('notify.test')}
        title={t('notify.testOf', { name: r.name })}
        submit={t('notify.test')}
        lead={<p className="effect">{t('notify.testEffect')}</p>}
        fields={[]}
        onSubmit={async () => {
          await change('POST', `/v1/notifications/${r.notification_id}/test`);
          toast(t('notify.testSent'));
          await forget('/v1/notification-deliveries');
        }}
      />
      <FormButton
        variant="link"
        label={t('notify.edit')}
        title={t('notify.editOf', { name: r.name })}
        submit={t('act.save')}
        ready={ready}
        fields={fields}
        initial={{
          name: r.name,
          url: r.url ?? '',
          wait_minutes: String(r.wait_minutes),
          ...ticked(r.events),
          ...Object.fromEntries((r.recipients ?? []).map((u) => [`to_${u}`, true])),
        }}
        lock={{ read: () => get(`/v1/notifications/${r.notification_id}`), was: { ...r }, view: valuesOfRule }}
        onSubmit={async (v, tag) => {
          const body = bodyOfRule(r.kind, v as Record<string, unknown>);
          await change('PATCH', `/v1/notifications/${r.notification_id}`, body, { 'if-match': tag });
          await forget('/v1/notifications');
        }}
      />
      <FormButton
        variant="link"
        label={t(r.state === 'ACTIVE' ? 'notify.pause' : 'notify.resume')}
        title={r.name}
        fields={[]}
        onSubmit={() => set(r.state === 'ACTIVE' ? 'PAUSED' : 'ACTIVE')}
      />
      {r.kind === 'webhook' && (
        <FormButton
          variant="link"
          label={t('notify.newSecret')}
          title={t('notify.newSecret')}
          lead={<p className="effect">{t('notify.newSecretEffect')}</p>}
          fields={[]}
          onSubmit={async () => {
            const made = await change('POST', `/v1/notifications/${r.notification_id}/secret`);
            await forget('/v1/notifications');
            if (made.secret) onSecret(made.secret);
          }}
        />
      )}
      <TypedConfirm
        variant="link"
        label={t('notify.remove')}
        title={t('notify.remove')}
        name={r.name}
        effect={t('notify.removeEffect')}
        onConfirm={async () => {
          await change('DELETE', `/v1/notifications/${r.notification_id}`);
          await forget('/v1/notifications');
        }}
      />
    </span>
  );
}

function Rules({ onSecret }: { onSecret: (s: string) => void }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const setter = can('notification:manage');
  return (
    <ServerTable
      path="/v1/notifications"
      label={t('nav.notices')}
      rowKey={(r) => r.notification_id}
      columns={[
        { name: 'name', label: t('col.name'), cell: (r) => <Name>{r.name}</Name> },
        { name: 'kind', label: t('notify.kind'), cell: (r) => t(`notify.${r.kind}`) },
        { name: 'events', label: t('notify.events'), cell: (r) => r.events.map((e) => t(`notify.${e}`)).join(' · ') },
        {
          name: 'url',
          label: t('notify.to'),
          cell: (r) => (r.url ? <Code>{r.url}</Code> : t('notify.people', { count: r.recipients?.length ?? 0 })),
        },
        { name: 'state', label: t('col.state'), cell: (r) => t(`notify.${r.state}`) },
      ]}
      {...(setter ? { rowActions: (r: Rule) => <Acts rule={r} onSecret={onSecret} /> } : {})}
      empty={
        <Empty
          title={t('notify.none')}
          body={t('notify.noneBody')}
          cli="falaj notification webhook ops https://hooks.example.org/falaj job-failed"
        />
      }
    />
  );
}

function Deliveries() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const rules = useGet('/v1/notifications', { page_size: 200 });
  const nameOf = (id?: string): string =>
    rules.data?.data.find((r) => r.notification_id === id)?.name ?? t('notify.gone');
  return (
    <ServerTable
      path="/v1/notification-deliveries"
      label={t('notify.deliveries')}
      rowKey={(d) => d.delivery_id}
      columns={[
        { name: 'created_at', label: t('notify.when'), cell: (d) => <Time at={d.created_at} /> },
        { name: 'notification_id', label: t('notify.rule'), cell: (d) => <Name>{nameOf(d.notification_id)}</Name> },
        { name: 'event', label: t('notify.event'), cell: (d) => t(`notify.${d.event}`) },
        {
          name: 'name',
          label: t('notify.about'),
          cell: (d) => (d.name ? <Name>{d.name}</Name> : <Code>{d.resource_id}</Code>),
        },
        { name: 'state', label: t('col.state'), cell: (d) => <State value={d.state} /> },
        { name: 'tries', label: t('notify.tries'), cell: (d) => number(d.tries) },
        { name: 'reason', label: t('notify.reason'), cell: (d) => <bdi lang="en">{d.reason}</bdi> },
      ]}
      {...(can('notification:manage')
        ? {
            rowActions: (d: Schemas['notice_delivery']) =>
              d.state === 'WAITING' ? null : (
                <FormButton
                  variant="link"
                  label={t('notify.again')}
                  title={t('notify.again')}
                  lead={<p className="effect">{t('notify.againEffect')}</p>}
                  fields={[]}
                  onSubmit={async () => {
                    await change('POST', `/v1/notification-deliveries/${d.delivery_id}/redeliver`);
                    await forget('/v1/notification-deliveries');
                  }}
                />
              ),
          }
        : {})}
      empty={
        <Empty
          title={t('notify.noDeliveries')}
          body={t('notify.noDeliveriesBody')}
          cli="falaj notification deliveries"
        />
      }
    />
  );
}

export function Notifications() {
  const { t } = useTranslation();
  const { can } = useSession();
  const [secret, setSecret] = useState<string | null>(null);
  const parts: Part[] = [
    ...(can('notification:read')
      ? [
          { id: 'rules', title: t('notify.rules'), body: () => <Rules onSecret={setSecret} /> },
          { id: 'deliveries', title: t('notify.deliveries'), body: () => <Deliveries /> },
        ]
      : []),
    { id: 'own', title: t('notify.own'), body: () => <OwnNotices events={NOTICE_OWN_IN_EVENTS} /> },
  ];
  const tab = useTab(parts);
  const calls: Record<string, [string, string]> = {
    rules: ['GET /v1/notifications', 'falaj notification list'],
    deliveries: ['GET /v1/notification-deliveries', 'falaj notification deliveries'],
    own: ['GET /v1/me/notifications', 'falaj notification mine'],
  };
  const [api, cli] = calls[tab]!;
  return (
    <Page
      name={t('nav.notices')}
      title={t('nav.notices')}
      lead={t('notify.lead')}
      actions={
        tab === 'rules' &&
        can('notification:manage') && (
          <span className="acts">
            <NewRule kind="webhook" onSecret={setSecret} />
            <NewRule kind="mail" />
          </span>
        )
      }
      api={[api]}
      cli={[cli]}
    >
      <PageTabs parts={parts} label={t('notify.parts')} />
      {secret !== null && <OnceSecret title={t('notify.secret')} secrets={[secret]} onClose={() => setSecret(null)} />}
    </Page>
  );
}
