// SPDX-License-Identifier: Apache-2.0
// Detail.tsx - the tenant's key in one zone: the way from root to data, its versions, what may be done, and what is on its way.
import { useParams } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { KEY_ROTATE_IN_TIER } from '../../api/gen/enums.ts';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Pairs, Time } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { Hierarchy } from './Hierarchy.tsx';
import { Impact } from './Impact.tsx';
import { ImportKey } from './Import.tsx';
import { Advice, Moves } from './pieces.tsx';
import { Versions } from './Versions.tsx';

type Summary = Schemas['key_summary'];

function Acts({ k, path }: { k: Summary; path: `/v1/keys/${string}` }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const zone = k.zone ?? '';
  const tiers = KEY_ROTATE_IN_TIER.map((x) => ({ value: x, label: t(`keyring.tier_${x}`) }));
  return (
    <>
      {can('key:rotate') && (
        <>
          <FormButton
            label={t('keyring.rotate')}
            title={t('keyring.rotate')}
            lead={<p className="effect">{t('keyring.rotateEffect')}</p>}
            fields={[{ name: 'tier', label: t('keyring.tier'), kind: 'select', options: tiers }]}
            initial={{ tier: k.tier ?? 'wrapped' }}
            onSubmit={async (v) => {
              await change('POST', `${path}/rotate`, v);
              toast(t('keyring.rotatedNow'));
              await forget('/v1/keys');
            }}
          />
          <FormButton
            variant="secondary"
            label={t('keyring.setMin')}
            title={t('keyring.setMin')}
            lead={<p className="effect">{t('keyring.setMinBody')}</p>}
            fields={[
              {
                name: 'min_version',
                label: t('keyring.min'),
                kind: 'number',
                required: true,
                min: k.min_version,
                max: k.primary_version,
              },
            ]}
            initial={{ min_version: String(k.min_version) }}
            onSubmit={async (v) => {
              await change('PUT', `${path}/min-version`, { min_version: Number(v['min_version']) });
              await forget('/v1/keys');
            }}
          />
          <ImportKey zone={zone} path={path} />
        </>
      )}
      {can('key:destroy') && (
        <TypedConfirm
          variant="secondary"
          reason
          label={t('keyring.shred')}
          title={t('keyring.shred')}
          name={zone}
          effect={
            <>
              <p>{t('keyring.shredEffect')}</p>
              <Impact zone={zone} dataKeys={k.data_keys} />
              <Link to="/approvals">{t('nav.approvals')}</Link>
            </>
          }
          onConfirm={async (reason) => {
            await change('POST', `${path}/destroy`, { reason });
            toast(t('keyring.asked'));
            await forget('/v1/approvals');
          }}
        />
      )}
    </>
  );
}

export function KeyDetail() {
  const { t } = useTranslation();
  const { zone } = useParams({ strict: false }) as { zone: string };
  const path = `/v1/keys/${encodeURIComponent(zone)}` as const;
  const query = useGet(path, {}, { everyMs: 10_000 });
  const versions = useGet(`${path}/versions`, { page_size: 1 });
  return (
    <Page
      name={`${t('keyring.keyOf')} ${zone}`}
      title={
        <>
          {t('keyring.keyOf')} <Code>{zone}</Code>
        </>
      }
      crumbs={[[t('nav.keys'), '/keys']]}
      api={[`GET ${path}`, `GET ${path}/versions`, `GET ${path}/rewraps`, `POST ${path}/rotate`]}
      cli={[`falaj key versions ${zone}`, `falaj key rewraps ${zone}`, `falaj key rotate ${zone}`]}
      actions={query.data && <Acts k={query.data} path={path} />}
    >
      <Answer of={query}>
        {(k) => (
          <>
            {k.advice && (
              <Note
                variant={k.advice === 'rotate-now' ? 'danger' : 'warning'}
                title={t(k.advice === 'rotate-now' ? 'keyring.rotateNowBody' : 'keyring.rotateSoonBody')}
              />
            )}
            <Hierarchy of={k} root={versions.data?.data[0]?.root_version} />
            <Pairs
              rows={[
                [t('keyring.advice'), <Advice key="a" value={k.advice} />],
                [t('keyring.before'), k.rotate_before && <Time key="b" at={k.rotate_before} />],
                [t('keyring.rotated'), <Time key="r" at={k.rotated_at} />],
                [t('keyring.min'), number(k.min_version)],
                [t('keyring.wraps'), number(k.wraps)],
              ]}
            />
            <h2 className="block">{t('datasets.versions')}</h2>
            <Versions path={path} />
            <h2 className="block">{t('keyring.moves')}</h2>
            <Moves path={`${path}/rewraps`} />
          </>
        )}
      </Answer>
    </Page>
  );
}
