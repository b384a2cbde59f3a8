// SPDX-License-Identifier: Apache-2.0
// inside.ts - a shell in a running program, or a way to its standard input. Asked for by an ordinary call, whose answer has a
// ticket; its stream is a WebSocket, to which the browser adds the session's cookie by itself. The ticket goes where no log has
// it: in the protocols offered, not in the address. It opens one stream, once.
import { heard, over, paused, PROTOCOL, sized, typed, type End } from '../lib/inside.ts';
import { change } from './client.ts';

/** What is typed to the program itself. */
export interface Typing {
  type: (text: string) => void;
  /** No more input, for good. */
  over: () => void;
  leave: () => void;
}
export interface Shell {
  type: (text: string, binary?: boolean) => void;
  resize: (cols: number, rows: number) => void;
  pause: (is: boolean) => void;
  leave: () => void;
}
interface Told {
  opened: () => void;
  output: (bytes: Uint8Array) => void;
  /** Once, and last. */
  ended: (end: End) => void;
}

type Asked =
  { kind: 'shell'; rank: number; cols: number; rows: number; term: string } | { kind: 'attach'; rank: number };
interface Stream {
  say: (bytes: Uint8Array<ArrayBuffer>) => void;
  leave: () => void;
}

async function open(job: string, asked: Asked, told: Told): Promise<Stream> {
  const path = `/v1/jobs/${encodeURIComponent(job)}/inside` as const;
  const session = await change('POST', path, asked);
  const at = new URL(`${path}/${session.session_id}`, location.href);
  at.protocol = at.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(at, [PROTOCOL, `ticket.${session.ticket ?? ''}`]);
  socket.binaryType = 'arraybuffer';
  let isOver = false;
  let wasOpen = false;
  const end = (how: End): void => {
    if (isOver) return;
    isOver = true;
    socket.close();
    told.ended(how);
  };
  socket.onopen = () => {
    wasOpen = true;
    told.opened();
  };
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
    if (isOver) return;
    const got = heard(data);
    if (got.kind === 'output') told.output(got.bytes);
    else if (got.kind === 'end') end(got.end);
  };
  socket.onclose = () => end({ reason: wasOpen ? 'cut' : 'not_opened' });
  return {
    say: (bytes) => {
      if (!isOver && socket.readyState === WebSocket.OPEN) socket.send(bytes);
    },
    leave: () => end({ reason: 'person_left' }),
  };
}

/** In the program of this rank, 0 where there is one alone. Throws the Problem with which it was refused. */
export async function openShell(
  job: string,
  rank: number,
  size: { cols: number; rows: number },
  told: Told,
): Promise<Shell> {
  const { say, leave } = await open(job, { kind: 'shell', rank, ...size, term: 'xterm-256color' }, told);
  return {
    type: (text, binary) => typed(text, binary).forEach(say),
    resize: (cols, rows) => say(sized(cols, rows)),
    pause: (is) => say(paused(is)),
    leave,
  };
}

/** To the standard input of the program of this rank, which asked for one. What it writes is in the job's log. */
export async function openTyping(job: string, rank: number, told: Omit<Told, 'output'>): Promise<Typing> {
  const { say, leave } = await open(job, { kind: 'attach', rank }, { ...told, output: () => undefined });
  return { type: (text) => typed(text).forEach(say), over: () => say(over()), leave };
}
