// SPDX-License-Identifier: Apache-2.0
// Palette.tsx - Ctrl+K: every page, what can be made, switches, and objects by name or id; by keyboard alone from the first letter on.
//
// Objects are searched by the server, by part of their name; it takes no less than Q_MIN characters.
import { Modal, ModalBody } from '@patternfly/react-core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { get, type Schemas } from '../api/client.ts';
import { useGet } from '../api/hooks.ts';
import { step } from '../lib/lists.ts';
import { getPrefs, setPrefs } from '../lib/prefs.ts';
import { fits, idPath } from '../lib/palette.ts';
import { Q_MIN } from '../ui/table/usual.ts';
import { createsFor, itemsFor, NAV, type Item } from './nav.ts';
import { useSession } from './session.tsx';
import { titleOf } from '../lib/titles.ts';

const SHOWN = 5;
const ASKED = 2;
const ALL = 200;
const WAIT_MS = 200;

interface Entry {
  id: string;
  label: string;
  group: string;
  note?: string;
  run: () => void;
}
interface Row {
  id: string;
  name?: string;
  state?: string;
}
interface Asked {
  q: string;
  page_size: number;
}
interface Source {
  perm: string;
  /** The page that lists them; one of them stands below it. */
  page: string;
  find: (query: Asked) => Promise<Row[]>;
  /** The part of that page where they stand, when none has a page of its own. */
  tab?: string;
}
function named<T>(
  page: { data: T[] },
  { q, page_size }: Asked,
  of: (x: T) => [string | undefined, string | undefined],
) {
  const all = page.data.map(of).map(([name, id]): Row => ({ name: name ?? '', id: id ?? '' }));
  return all.filter((r) => fits(q, r.name ?? '')).slice(0, page_size);
}
const SOURCES: Source[] = [
  {
    perm: 'job:read',
    page: '/jobs',
    find: async (q) => (await get('/v1/jobs', q)).data.map((r) => ({ ...r, id: r.job_id })),
  },
  {
    perm: 'dataset:read',
    page: '/datasets',
    find: async (q) => (await get('/v1/datasets', q)).data.map((r) => ({ name: titleOf(r), id: r.dataset_id })),
  },
  {
    perm: 'model:read',
    page: '/models',
    find: async (q) => (await get('/v1/models', q)).data.map((r) => ({ name: titleOf(r), id: r.model_id })),
  },
  {
    perm: 'deployment:read',
    page: '/deployments',
    find: async (q) => (await get('/v1/deployments', q)).data.map((r) => ({ ...r, id: r.deployment_id })),
  },
  {
    perm: 'project:read',
    page: '/projects',
    find: async (q) => (await get('/v1/projects', q)).data.map((r) => ({ ...r, name: titleOf(r), id: r.project_id })),
  },
  {
    perm: 'node:read',
    page: '/workers',
    find: async (q) => (await get('/v1/nodes', q)).data.map((r) => ({ ...r, id: r.node_id })),
  },
  {
    perm: 'user:read',
    page: '/members',
    find: async (q) => (await get('/v1/users', q)).data.map((r) => ({ ...r, id: r.user_id })),
  },
  {
    perm: 'token:own',
    page: '/tokens',
    find: async (q) => (await get('/v1/api-tokens', q)).data.map((r) => ({ name: r.name, id: r.token_id })),
  },
  // The API has no search by name in these short lists.
  {
    perm: 'zone:read',
    page: '/zones',
    find: async (q) => named(await get('/v1/zones', { page_size: ALL }), q, (z) => [`${z.name} (${z.code})`, z.code]),
  },
  {
    perm: 'user:read',
    page: '/members',
    tab: 'groups',
    find: async (q) => named(await get('/v1/groups', { page_size: ALL }), q, (g) => [g.name, g.group_id]),
  },
  {
    perm: 'quota:read',
    page: '/quotas',
    tab: 'budgets',
    find: async (q) => named(await get('/v1/budgets', { page_size: ALL }), q, (b) => [b.name, b.budget_id]),
  },
  {
    perm: 'tenant:read',
    page: '/tenants',
    find: async (q) => (await get('/v1/tenants', q)).data.map((r) => ({ ...r, name: titleOf(r), id: r.tenant_id })),
  },
];

/** The page that lists them: what has none is not found here. */
const itemOf = (s: Source): Item | undefined => NAV.flatMap((g) => g.items).find((i) => i.to === s.page);

/** isFresh: the rows are the answer to this very text; until then those of the text before stand, for the list not to flicker. */
function useFound(text: string): { found: { source: Source; rows: Row[] }[]; isFresh: boolean } {
  const { can } = useSession();
  const sources = SOURCES.filter((s) => can(s.perm) && itemOf(s) !== undefined);
  const isAsked = [...text].length >= Q_MIN;
  const answer = useQuery({
    queryKey: ['palette', text],
    enabled: isAsked,
    placeholderData: keepPreviousData,
    queryFn: () =>
      Promise.all(
        sources.map(async (source) => ({
          source,
          rows: await source.find({ q: text, page_size: SHOWN }).catch(() => []),
        })),
      ),
  });
  if (!isAsked) return { found: [], isFresh: true };
  return { found: answer.data ?? [], isFresh: answer.data !== undefined && !answer.isPlaceholderData };
}

/** The auditor's question, whole: data sets by a part of their name as the log knows them, deleted ones too. */
function useReadable(text: string): Schemas['audit_thing'][] {
  const { can } = useSession();
  const enabled = can('audit:read') && [...text].length >= Q_MIN && !text.includes('_');
  const names = useGet('/v1/audit/names', { name: text, page_size: 20 }, { enabled });
  return enabled ? (names.data?.data ?? []).filter((x) => x.kind === 'dataset').slice(0, ASKED) : [];
}

export default function Palette({ close, help, calls }: { close: () => void; help: () => void; calls: () => void }) {
  const { t } = useTranslation();
  const { can, me, leave } = useSession();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [picked, setPicked] = useState<string>();
  const [isWanted, setWanted] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { found, isFresh } = useFound(asked);
  const sets = useReadable(asked);
  const go =
    (to: string, search: Record<string, string> = {}) =>
    () =>
      void navigate({ to, search: search as never });
  const entry = (group: string, id: string, label: string, run: () => void, note?: string): Entry => ({
    id: `p-${id}`,
    group,
    label,
    run,
    ...(note ? { note } : {}),
  });

  // A project has no page of its own: its jobs are what is looked for; a token stands in its list.
  const placeOf = (s: Source, r: Row): (() => void) => {
    if (s.page === '/projects') return go('/jobs', { project_id: r.id });
    if (s.page === '/tokens') return go('/tokens', { q: r.name ?? '' });
    return s.tab ? go(s.page, { tab: s.tab }) : go(`${s.page}/${r.id}`);
  };
  const direct = idPath(text.trim());
  const fixed = [
    ...itemsFor({ can, me }).map((i) =>
      entry('palette.pages', i.to, t(i.key), go(i.to), i.letter ? `g ${i.letter}` : undefined),
    ),
    ...createsFor(can).map((i) => entry('palette.acts', i.key, t(i.key), go(i.to, i.search))),
    entry('palette.acts', 'calls', t('shell.calls'), calls),
    entry('palette.acts', 'help', t('keys.title'), help, '?'),
    entry('palette.acts', 'dark', t('palette.theme'), () =>
      setPrefs({ theme: getPrefs().theme === 'dark' ? 'light' : 'dark' }),
    ),
    entry('palette.acts', 'density', t('palette.density'), () =>
      setPrefs({ density: getPrefs().density === 'compact' ? 'normal' : 'compact' }),
    ),
    entry('palette.acts', 'out', t('shell.out'), () => void leave()),
  ].filter((e) => fits(text.trim(), e.label));
  const rows = found.flatMap((f) =>
    f.rows.map((r) => entry(itemOf(f.source)!.key, r.id, r.name ?? r.id, placeOf(f.source, r), r.state)),
  );
  const certain = [...(direct ? [entry('palette.direct', 'id', text.trim(), go(direct))] : []), ...fixed];
  const asks = sets.flatMap((set) =>
    (['last_month', 'month'] as const).map((when) =>
      entry(
        'nav.audit',
        `${when}-${set.id}`,
        t('palette.whoRead', { name: `\u2068${titleOf(set)}\u2069`, when: t(`when.${when}`) }),
        go('/audit', { action: 'dataset.content.read', resource: set.id, when }),
      ),
    ),
  );
  const entries: Entry[] = [...certain, ...rows, ...asks];
  // By its id: an answer that comes later may move the row that was picked. Without one it is the first.
  const now =
    entries.length === 0
      ? -1
      : Math.max(
          0,
          entries.findIndex((e) => e.id === picked),
        );
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [now, entries.length]);
  const choose = (e: Entry | undefined): void => {
    if (!e) return;
    close();
    e.run();
  };
  // A page or an act fits the text as it stands, and so does a row that was picked by hand. A first row found for the text before does not:
  // Enter then waits for the answer to this text.
  const isPicked = now >= 0 && entries[now]!.id === picked;
  const isFixed = now >= 0 && now < certain.length;
  const isSure = isPicked || isFixed || (isFresh && asked === text.trim());
  useEffect(() => {
    if (!isWanted || !isSure) return;
    setWanted(false);
    choose(entries[now]);
  });
  const onKey = (e: KeyboardEvent): void => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp')
      setPicked(entries[step(entries.length, now, e.key === 'ArrowDown' ? 1 : -1)]?.id);
    else if (e.key === 'Enter') {
      setAsked(text.trim());
      setWanted(true);
    } else return;
    e.preventDefault();
  };
  const state = (note: string): string => (/^[A-Z_]{4,}$/.test(note) ? t(`value.${note}`) : note);
  return (
    <Modal isOpen variant="small" position="top" onClose={close} aria-label={t('palette.title')} className="palette">
      <ModalBody>
        <input
          // eslint-disable-next-line jsx-a11y/no-autofocus -- who opens a search wants to type
          autoFocus
          className="palette-input"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-label={t('palette.title')}
          {...(entries[now] ? { 'aria-activedescendant': entries[now].id } : {})}
          placeholder={t('palette.hint')}
          value={text}
          onChange={(e) => {
            setText(e.target.value);
            setPicked(undefined);
            setWanted(false);
          }}
          onKeyDown={onKey}
        />
        <div id="palette-list" role="listbox" aria-label={t('palette.title')} className="palette-list" ref={list}>
          {entries.map((e, i) => (
            <div key={e.id}>
              {e.group !== entries[i - 1]?.group && (
                <div role="presentation" className="palette-group">
                  {t(e.group)}
                </div>
              )}
              {/* eslint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are the field's, as a combobox has them */}
              <div
                id={e.id}
                role="option"
                tabIndex={-1}
                aria-selected={i === now}
                className="palette-row"
                onClick={() => choose(e)}
                onMouseMove={() => setPicked(e.id)}
              >
                <bdi>{e.label}</bdi>
                {e.note && <small dir="auto">{state(e.note)}</small>}
              </div>
            </div>
          ))}
        </div>
        <p role="status" className={entries.length === 0 ? 'palette-none' : 'pf-v6-u-screen-reader'}>
          {entries.length === 0 ? t('palette.none') : t('palette.found', { count: entries.length })}
        </p>
      </ModalBody>
    </Modal>
  );
}
