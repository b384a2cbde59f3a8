// SPDX-License-Identifier: Apache-2.0
// Zone.tsx - one zone: where it stands, what its law says by which version, and the way to change that law.
import { FormSelect, FormSelectOption, Label } from '@patternfly/react-core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, Time, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { Grid } from '../../ui/grid.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { ShareLine } from '../fleet/bits.tsx';
import '../fleet/fleet.css';
import { LawPreview } from './builder.tsx';
import { CLASSES, strings, useLaw, useZoneViews, type Law } from './data.ts';
import { lawBody, lawFields, lawValues } from './law.ts';
import { ZoneHealth } from './Zones.tsx';
import './zones.css';

type Rule = Schemas['zone_rule'];
type Clock = Schemas['zone_clock'];

export function ClassLabels({ classes }: { classes: readonly string[] }) {
  const { t } = useTranslation();
  return (
    <span className="class-list">
      {classes.map((c) => (
        <Label key={c} isCompact>
          {t(`class.${c}`)}
        </Label>
      ))}
    </span>
  );
}

function LawRows({ label, heads, rows }: { label: string; heads: string[]; rows: React.ReactNode[][] }) {
  const { t } = useTranslation();
  if (rows.length === 0) return <p className="subtle">{t('zones.noRows')}</p>;
  return <Grid label={label} heads={heads} rows={rows.map((cells, id) => ({ id, cells }))} />;
}

function LawView({ law }: { law: Law }) {
  const { t } = useTranslation();
  const rules = (Array.isArray(law.rules) ? law.rules : []) as Rule[];
  const clocks = (Array.isArray(law.clocks) ? law.clocks : []) as Clock[];
  const takes = strings(law.data_classes);
  const approvers = strings(law.approved_by);
  const dates = (r: { valid_from: string; valid_to?: string }): React.ReactNode => (
    <>
      <Time at={r.valid_from} ago />
      {r.valid_to && (
        <>
          {' – '}
          <Time at={r.valid_to} ago />
        </>
      )}
    </>
  );
  return (
    <>
      <Pairs
        rows={[
          [t('zones.regimes'), <Code key="r">{strings(law.legal_regimes).join(', ')}</Code>],
          [t('zones.regulator'), law.regulator && <Name key="g">{law.regulator}</Name>],
          [t('zones.provider'), law.provider && <Name key="p">{law.provider}</Name>],
          [t('zones.classes'), <ClassLabels key="c" classes={CLASSES.filter((c) => takes.includes(c))} />],
          [t('zones.refuses'), <ClassLabels key="n" classes={CLASSES.filter((c) => !takes.includes(c))} />],
          [t('zones.cidrs'), <Code key="w">{strings(law.worker_cidrs).join(', ') || t('zones.anyNetwork')}</Code>],
          [t('zones.since'), <Time key="s" at={law.at} />],
          [t('zones.setBy'), law.set_by && <Id key="b" value={law.set_by} />],
          [t('zones.approvedBy'), approvers.length > 0 ? <Code key="a">{approvers.join(', ')}</Code> : undefined],
        ]}
      />
      <h3 className="block">{t('zones.rules')}</h3>
      <LawRows
        label={t('zones.rules')}
        heads={[
          t('col.class'),
          t('zones.mayLeave'),
          t('zones.inside'),
          t('zones.regime'),
          t('zones.source'),
          t('zones.inForce'),
        ]}
        rows={rules.map((r) => [
          t(`class.${r.data_class}`),
          t(`zones.${r.may_leave}`),
          <Code key="i">{(r.countries ?? []).join(', ')}</Code>,
          <Code key="r">{r.regime}</Code>,
          <Name key="s">{r.source_text}</Name>,
          dates(r),
        ])}
      />
      <h3 className="block">{t('zones.clocks')}</h3>
      <LawRows
        label={t('zones.clocks')}
        heads={[t('zones.clock'), t('zones.hours'), t('zones.regime'), t('zones.source'), t('zones.inForce')]}
        rows={clocks.map((c) => [
          <Code key="n">{c.name}</Code>,
          c.hours === undefined ? t('zones.noHours') : number(c.hours),
          <Code key="r">{c.regime}</Code>,
          <Name key="s">{c.source_text}</Name>,
          dates(c),
        ])}
      />
    </>
  );
}

export function ZoneDetail() {
  const { t } = useTranslation();
  const { can, role } = useSession();
  const { code } = useParams({ strict: false }) as { code: string };
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const forget = useForget();
  const path = `/v1/zones/${encodeURIComponent(code)}` as const;
  const zone = useGet(path);
  const version = Number(search['law'] ?? 0) || 0;
  const law = useLaw(code, version, zone.isSuccess);
  const view = useZoneViews().views.find((v) => v.zone.code === code);
  const newest = zone.data?.law_version ?? 0;
  return (
    <Page
      name={code}
      title={<Code>{code}</Code>}
      lead={zone.data && <Name>{zone.data.name}</Name>}
      crumbs={[[t('nav.zones'), '/zones']]}
      api={[`GET ${path}`, `GET ${path}/law${version > 0 ? `?version=${version}` : ''}`]}
      cli={[`falaj zone show ${code}`, `falaj zone law ${code}${version > 0 ? ` --version ${version}` : ''}`]}
      actions={
        can('zone:policy') &&
        law.data &&
        version === 0 && (
          <FormButton
            variant="secondary"
            size="large"
            opens="law"
            extra={(form) => <LawPreview form={form} />}
            label={t('zones.askLaw')}
            title={t('zones.askLaw')}
            lead={<p className="effect">{t('zones.askLawEffect')}</p>}
            fields={[
              ...lawFields(t),
              { name: 'reason', label: t('zones.askReason'), kind: 'area', required: true, max: 1024 },
            ]}
            initial={lawValues(law.data)}
            onSubmit={async (v) => {
              await change('PUT', `${path}/law`, { law: lawBody(v), reason: v.reason });
              await forget('/v1/approvals');
              toast(t('zones.asked'));
            }}
          />
        )
      }
    >
      <Answer of={zone}>
        {(z) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), view && <ZoneHealth key="h" health={view.health} />],
                [t('zones.country'), <Code key="c">{z.country}</Code>],
                [
                  t('workers.machines'),
                  view?.nodes && (
                    <To key="m" to={`/workers?zone=${code}`}>
                      {t('workers.count', { count: view.nodes.length })}
                    </To>
                  ),
                ],
                [
                  t('nav.keys'),
                  <span key="k">
                    {view?.keys === 'ok' ? t('zones.keysOpen') : (view?.keys ?? t('zones.keysUnknown'))}{' '}
                    {(can('key:root') || can('key:read')) && !role('viewer') && (
                      <To to={can('key:root') ? `/root-keys/${code}` : `/keys/${code}`}>{t('zones.keyVersions')}</To>
                    )}
                  </span>,
                ],
                [t('col.created'), <Time key="t" at={z.created_at} />],
              ]}
            />
            {view?.nodes && view.nodes.length > 0 && (
              <div className="fleet-narrow block">
                <ShareLine label={t('col.slots')} share={view.slots} />
                {view.gpus.of > 0 && <ShareLine label={t('col.gpus')} share={view.gpus} />}
              </div>
            )}
            <h2 className="block">{t('zones.lawTitle')}</h2>
            {newest > 1 && (
              <FormSelect
                className="fleet-narrow block"
                aria-label={t('zones.law')}
                value={String(version || newest)}
                onChange={(_e, v) =>
                  void navigate({
                    to: '.',
                    search: withFilter(search, 'law', Number(v) === newest ? '' : v) as never,
                  })
                }
              >
                {Array.from({ length: newest }, (_, i) => newest - i).map((n) => (
                  <FormSelectOption
                    key={n}
                    value={String(n)}
                    label={n === newest ? t('zones.versionNow', { n }) : t('zones.versionOf', { n })}
                  />
                ))}
              </FormSelect>
            )}
            <Answer of={law}>{(l) => <LawView law={l} />}</Answer>
          </>
        )}
      </Answer>
    </Page>
  );
}
