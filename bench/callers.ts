import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { wholeMessage } from './http-messages.js';

/** A part of a request that is replaced by another number in each call. */
export const SERIAL = '{serial}';

/** A part of a request that is replaced by one of the credentials, in turns. */
export const CREDENTIAL = '{credential}';

export interface Call {
  readonly port: number;
  /** The ports of further instances. A caller goes around all of them, each time to the next one. */
  readonly others?: readonly number[];
  /** The whole request, head and body. It may contain `SERIAL` and `CREDENTIAL`. */
  readonly request: string;
  readonly credentials?: readonly string[] | undefined;
}

/** Calls that several callers repeat. Each has its own connections and makes its next call when it has an answer. */
export interface Round {
  /** Each caller repeats these calls, one after the other. */
  readonly calls: readonly Call[];
  readonly callers: number;
  readonly ms: number;
  /** The calls of all callers end after so many. */
  readonly most: number;
}

export interface Measured {
  /** The durations of each call, in milliseconds. */
  readonly times: readonly (readonly number[])[];
  readonly perSecond: number;
  /** An answer with another status than 200 and 201; null if there was none. */
  readonly failure: string | null;
}

/** Makes the calls of a round. */
async function measured({ calls, callers, ms, most }: Round): Promise<Measured> {
  const times: number[][] = calls.map(() => []);
  let left = most;
  let failure: string | null = null;
  const begun = performance.now();
  const caller = async () => {
    const turns = await Promise.all(calls.map(connected));
    while (performance.now() - begun < ms && failure === null && left-- > 0) {
      for (const [at, { socket, bytes }] of turns.entries()) {
        const called = performance.now();
        const answer = await exchange(socket(), bytes());
        times[at]?.push(performance.now() - called);
        if (!/^HTTP\/1\.1 20[01] /.test(answer)) failure = answer;
      }
    }
    for (const { sockets } of turns) for (const socket of sockets) socket.destroy();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { times, perSecond: (times.flat().length * 1_000) / (performance.now() - begun), failure };
}

async function connected({ port, others = [], request, credentials }: Call) {
  const sockets = [port, ...others].map((one) => connect({ port: one, host: '127.0.0.1', noDelay: true }));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  let last = 0;
  const socket = () => sockets[last++ % sockets.length] as Socket;
  const bytes = Buffer.from(request);
  if (credentials) return { sockets, socket, bytes: () => Buffer.from(withCredential(request, credentials)) };
  return { sockets, socket, bytes: request.includes(SERIAL) ? () => Buffer.from(withSerial(request)) : () => bytes };
}

let serial = 0;
const withSerial = (request: string) => request.replace(SERIAL, String(++serial).padStart(SERIAL.length, '0'));

let turn = 0;
const withCredential = (request: string, credentials: readonly string[]) =>
  request.replace(CREDENTIAL, credentials[turn++ % credentials.length] as string);

/** Sends a request and returns the answer. A bare socket needs less processor time than a client library. */
function exchange(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const end = (settle: () => void) => {
      socket.off('data', take).off('close', fail);
      settle();
    };
    const take = (piece: Buffer) => {
      received += piece.toString('latin1');
      if (wholeMessage(received) > 0) end(() => resolve(received));
    };
    const fail = () => end(() => reject(new Error(`the connection ended: ${received}`)));
    socket.on('data', take).on('close', fail).write(request);
  });
}

/** Runs as a process: measures each round that its parent sends, and sends the measurements back. */
process.on('message', async (round: Round) => {
  const failed = (error: unknown): Measured => ({ times: [], perSecond: 0, failure: String(error) });
  process.send?.(await measured(round).catch(failed));
});
process.once('disconnect', () => process.exit());
