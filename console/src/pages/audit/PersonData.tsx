// SPDX-License-Identifier: Apache-2.0
// PersonData.tsx - what is kept of a person and where (audit/pii.def), to hand out to them; whether they were erased, and how to.
// Reading it is an act in the log, so the page reads once and again only after an erasure.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { csvText, saveAs } from '../../lib/csv.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, Time } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { EraseButton } from './Erase.tsx';
import { Frame } from './frame.tsx';
import { Button } from './pieces.tsx';

type Datum = Schemas['person_datum'];

function Kept({ data }: { data: Datum[] }) {
  const { t, i18n } = useTranslation();
  const means = (d: Datum): string => {
    const key = `kept.${d.place}_${d.field}`;
    return i18n.exists(key) ? t(key) : d.means;
  };
  return (
    <Table variant="compact" aria-label={t('kept.title')} gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          <Th>{t('kept.what')}</Th>
          <Th>{t('kept.value')}</Th>
          <Th>{t('kept.where')}</Th>
        </Tr>
      </Thead>
      <Tbody>
        {data.map((d, i) => (
          <Tr key={i}>
            <Td dataLabel={t('kept.what')}>{means(d)}</Td>
            <Td dataLabel={t('kept.value')}>
              <Name>{d.value}</Name>
            </Td>
            <Td dataLabel={t('kept.where')}>
              <Code>{`${d.place}.${d.field}`}</Code>
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

function State({ person }: { person: Schemas['audit_person'] }) {
  const { t } = useTranslation();
  if (person.erased_at) return <Time at={person.erased_at} />;
  return <>{t(person.held ? 'erasures.held' : 'kept.notErased')}</>;
}

export function PersonData() {
  const { t } = useTranslation();
  const { me } = useSession();
  const id = useParams({ strict: false }).id ?? '';
  const kept = useGet(`/v1/audit/persons/${id}`);
  const data = kept.data?.data ?? [];
  const name = data.find((d) => d.place === 'app_user')?.value ?? '';
  const held = kept.data?.held === true;
  const why = id === me.user_id ? t('kept.own') : held ? t('erasures.held') : '';
  return (
    <Frame
      part="kept.title"
      lead={t('kept.lead')}
      api={['GET /v1/audit/persons/{user_id}', 'POST /v1/audit/erasures']}
      cli={[`falaj audit person ${id}`, `falaj audit erase ${id}`]}
      actions={
        kept.data && (
          <>
            <Button
              variant="secondary"
              onClick={() =>
                saveAs(`${id}.json`, `${JSON.stringify({ user_id: id, data }, null, 2)}\n`, 'application/json')
              }
            >
              {t('kept.json')}
            </Button>
            <Button
              variant="secondary"
              onClick={() =>
                saveAs(
                  `${id}.csv`,
                  csvText(
                    ['place', 'field', 'means', 'value'],
                    data.map((d) => ({ ...d })),
                  ),
                )
              }
            >
              {t('kept.csv')}
            </Button>
            {!kept.data.erased_at && <EraseButton id={id} name={name} why={why} />}
          </>
        )
      }
    >
      <Answer of={kept}>
        {(person) => (
          <>
            <Pairs
              rows={[
                [t('erasures.who'), <Id key="id" value={id} />],
                [t('erasures.when'), <State key="state" person={person} />],
              ]}
            />
            <Kept data={person.data} />
            <h2 className="block">{t('kept.stays')}</h2>
            <p>{t('kept.staysBody')}</p>
          </>
        )}
      </Answer>
    </Frame>
  );
}
