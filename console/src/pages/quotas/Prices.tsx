// SPDX-License-Identifier: Apache-2.0
// Prices.tsx - the price book: what an hour and a kWh cost on each flavor of machine, from when on. The operator adds; nothing is changed.
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { money, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Time } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';

type Price = Schemas['price'];
const PRICED = ['slot_hour', 'gpu_hour', 'kwh'] as const;
const WATTS = ['slot_watts', 'gpu_watts'] as const;

export function Prices() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const fields = formFields(
    { name: 'flavor', label: t('prices.flavor'), required: true, pattern: SLUG, help: t('field.slug') },
    { name: 'currency', label: t('budgets.currency'), required: true, pattern: /^[A-Z]{3}$/ },
    ...PRICED.map((n) => ({ name: n, label: t(`prices.${n}`), kind: 'number' as const, min: 0, max: 1e6 })),
    ...WATTS.map((n) => ({
      name: n,
      label: t(`prices.${n}`),
      kind: 'number' as const,
      min: 0,
      max: 1e5,
      pattern: /^\d+$/,
    })),
  );
  return (
    <>
      {can('price:set') && (
        <div className="row-of-tools">
          <FormButton
            opens="price"
            label={t('prices.add')}
            title={t('prices.add')}
            lead={<p className="lead effect">{t('prices.addBody')}</p>}
            fields={fields}
            initial={{ currency: 'AED' }}
            onSubmit={async (v) => {
              const body = bodyOf(fields, v);
              for (const n of PRICED) if (body[n] !== undefined) body[n] = Math.round(body[n] * 100);
              await change('POST', '/v1/prices', body);
              await forget('/v1/prices');
            }}
          />
        </div>
      )}
      <ServerTable
        path="/v1/prices"
        label={t('prices.title')}
        filters={[{ name: 'flavor', label: t('prices.flavor') }]}
        rowKey={(p) => p.price_id!}
        columns={[
          { name: 'flavor', label: t('prices.flavor'), cell: (p) => <Code>{p.flavor}</Code> },
          { name: 'valid_from', label: t('prices.from'), cell: (p) => <Time at={p.valid_from} /> },
          ...PRICED.map((n) => ({
            name: n,
            label: t(`prices.${n}`),
            cell: (p: Price) => money(p[n], p.currency ?? ''),
          })),
          ...WATTS.map((n) => ({ name: n, label: t(`prices.${n}`), cell: (p: Price) => number(p[n]) })),
        ]}
        empty={<Empty title={t('prices.none')} body={t('prices.noneBody')} cli="falaj price list" />}
      />
    </>
  );
}
