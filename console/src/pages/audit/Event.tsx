// SPDX-License-Identifier: Apache-2.0
// Event.tsx - one event in full: the sentence, its parts, what changed, what belongs to it, its place in the tree, and its bytes.
import { Button, CloseButton } from './pieces.tsx';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { placeIn, readSignedHead, type Place } from '../../api/place.ts';
import { didKey } from '../../lib/audit-actions.ts';
import { number } from '../../lib/format.ts';
import { Code, Id, Json, Pairs, State, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Answer, useProblemText } from '../../ui/states.tsx';
import { factsOf, useSentence, type Facts, type Item, type Known } from './words.ts';

async function placeOf(item: Item): Promise<{ place: Place; size: number; key: string }> {
  const head = await readSignedHead();
  return { place: await placeIn(head, item), size: head.size, key: head.key };
}

function Inclusion({ item }: { item: Item }) {
  const { t } = useTranslation();
  const text = useProblemText();
  const [found, setFound] = useState<{ place: Place; size: number; key: string } | null>(null);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const go = async (): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      setFound(await placeOf(item));
    } catch (p) {
      setProblem(text(p));
    } finally {
      setBusy(false);
    }
  };
  const kind = { good: 'success', unsigned: 'info', unchecked: 'warning' } as const;
  return (
    <>
      <Button
        variant="secondary"
        onClick={() => void go()}
        isLoading={busy}
        isDisabled={busy}
        spinnerAriaValueText={t('state.loading')}
      >
        {t('audit.prove')}
      </Button>
      <div role="status" className="verdict">
        {problem && <Note variant="danger" title={problem} />}
        {found && (
          <Note
            variant={kind[found.place as keyof typeof kind] ?? 'danger'}
            title={t(`audit.place_${found.place}`, { size: number(found.size) })}
          >
            <Code>{found.key}</Code>
          </Note>
        )}
      </div>
    </>
  );
}

/** Details that come in pairs of before and after. */
const PAIRS = [
  ['before', 'after'],
  ['from', 'to'],
  ['old', 'new'],
] as const;
function Changes({ details }: { details: Facts['details'] }) {
  const { t } = useTranslation();
  const map = new Map(details);
  const pairs = PAIRS.filter(([a, b]) => map.has(a) && map.has(b));
  const rest = details.filter(([k]) => !pairs.some((p) => (p as readonly string[]).includes(k)));
  return (
    <>
      {pairs.length > 0 && (
        <>
          <h3 className="block">{t('audit.changed')}</h3>
          <div className="diff">
            {pairs.map(([a, b]) => (
              <div key={a} className="acts">
                <span>{t('audit.was')}</span>
                <del>
                  <Code>{map.get(a)}</Code>
                </del>
                <span>{t('audit.is')}</span>
                <ins>
                  <Code>{map.get(b)}</Code>
                </ins>
              </div>
            ))}
          </div>
        </>
      )}
      {rest.length > 0 && (
        <>
          <h3 className="block">{t('audit.details')}</h3>
          <dl className="diff">
            {rest.map(([k, v]) => (
              <div key={k} className="acts">
                <dt>
                  <Code>{k}</Code>
                </dt>
                <dd>
                  <Code>{v}</Code>
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}

function Whole({ item, known, onClose }: { item: Item; known: Known; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const say = useSentence();
  const navigate = useNavigate();
  const top = useRef<HTMLHeadingElement>(null);
  const f = factsOf(item);
  useEffect(() => top.current?.focus(), [item.event_id]);
  const only = (search: Record<string, string>): void => void navigate({ to: '/audit', search: search as never });
  return (
    <>
      <div className="aside-top">
        <h2 ref={top} tabIndex={-1}>
          {say(f, known)}
        </h2>
        <CloseButton onClose={onClose} />
      </div>
      <Pairs
        rows={[
          [t('audit.number'), number(item.tseq)],
          [t('col.at'), <Time key="a" at={f.at} />],
          [t('audit.outcome'), <State key="o" value={f.verdict} />],
          [t('audit.code'), f.outcome !== 'success' && <Code key="c">{f.outcome}</Code>],
          [
            t('audit.action'),
            <span key="ac">
              {i18n.exists(didKey(f.action)) && t(didKey(f.action))} <Code>{f.action}</Code>
            </span>,
          ],
          [t('audit.actor'), f.actorId && <Id key="i" value={f.actorId} />],
          [
            t('audit.roles'),
            f.roles.length > 0 &&
              f.roles.map((r) => (i18n.exists(`role.${r}`) ? t(`role.${r}`) : r)).join(t('audit.and')),
          ],
          [t('audit.resource'), f.id && <Id key="w" value={f.id} />],
          [t('audit.rule'), f.rule && <Code key="ru">{f.rule}</Code>],
          [t('audit.status'), f.status && <Code key="st">{f.status}</Code>],
          [
            t('audit.ip'),
            f.ip && (
              <span key="ip" className={f.isSealed ? 'personal' : ''}>
                <Code>{f.ip}</Code>
              </span>
            ),
          ],
          [t('state.requestId'), f.requestId && <Id key="rq" value={f.requestId} />],
        ]}
      />
      {(f.isSealed || f.hidden) && (
        <Note title={t(f.hidden ? `audit.personal_${f.hidden}` : 'audit.personal_sealed')} />
      )}
      {f.isDropped && <Note title={t('audit.droppedBody')} />}
      <Changes details={f.details} />
      <div className="acts">
        {f.requestId && (
          <Button variant="link" isInline onClick={() => only({ request_id: f.requestId })}>
            {t('audit.sameRequest')}
          </Button>
        )}
        {f.actorId && (
          <Button variant="link" isInline onClick={() => only({ actor: f.actorId })}>
            {t('audit.sameActor')}
          </Button>
        )}
        {f.id && (
          <Button variant="link" isInline onClick={() => only({ resource: f.id })}>
            {t('audit.sameResource')}
          </Button>
        )}
      </div>
      {!f.isDropped && <Inclusion item={item} />}
      <h3 className="block">{t('audit.whole')}</h3>
      {item.event ? <Json value={item.event} label={t('audit.whole')} /> : null}
      <Pairs
        rows={[
          [t('audit.leaf'), <Code key="l">{item.leaf}</Code>],
          [t('audit.chain'), <Code key="c">{item.chain}</Code>],
        ]}
      />
    </>
  );
}

export function EventAside({ id, known, onClose }: { id: string; known: Known; onClose: () => void }) {
  const { t } = useTranslation();
  const one = useGet(`/v1/audit/events/${encodeURIComponent(id)}`);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const onKey = (e: KeyboardEvent): void => {
      if (e.key === 'Escape' && !document.querySelector('[role=dialog]')) close.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <aside aria-label={t('audit.oneEvent')}>
      <Answer of={one}>{(item) => <Whole item={item} known={known} onClose={onClose} />}</Answer>
    </aside>
  );
}
