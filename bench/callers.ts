import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { wholeMessage } from './http-messages.js';

export interface Call {
  readonly port: number;
  /** The whole request, head and body. */
  readonly request: string;
}

/** Calls by so many callers at a time, each as soon as it has its answer, over connections of its own. */
export interface Round {
  /** Each caller makes these in turns. */
  readonly calls: readonly Call[];
  readonly callers: number;
  readonly ms: number;
}

export interface Measured {
  /** The durations of each of the calls, in milliseconds. */
  readonly times: readonly (readonly number[])[];
  readonly perSecond: number;
  /** The first answer that was not 200. */
  readonly failure: string | null;
}

/** Runs as a process: makes the calls of each round that it is sent, and sends back the measurements. */
async function measured({ calls, callers, ms }: Round): Promise<Measured> {
  const times: number[][] = calls.map(() => []);
  let failure: string | null = null;
  const begun = performance.now();
  const caller = async () => {
    const turns = await Promise.all(calls.map(connected));
    while (performance.now() - begun < ms && failure === null) {
      for (const [at, { socket, bytes }] of turns.entries()) {
        const called = performance.now();
        const answer = await exchange(socket, bytes);
        times[at]?.push(performance.now() - called);
        if (!answer.startsWith('HTTP/1.1 200 ')) failure = answer;
      }
    }
    for (const { socket } of turns) socket.destroy();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { times, perSecond: (times.flat().length * 1_000) / (performance.now() - begun), failure };
}

async function connected({ port, request }: Call) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return { socket, bytes: Buffer.from(request) };
}

/** On bare sockets: a client library would take a part of the machine that the service could use. */
function exchange(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const end = (settle: () => void) => {
      socket.off('data', take).off('close', fail);
      settle();
    };
    const take = (piece: Buffer) => {
      heard += piece.toString('latin1');
      if (wholeMessage(heard) > 0) end(() => resolve(heard));
    };
    const fail = () => end(() => reject(new Error(`the connection ended: ${heard}`)));
    socket.on('data', take).on('close', fail).write(request);
  });
}

process.on('message', async (round: Round) => {
  const failed = (error: unknown): Measured => ({ times: [], perSecond: 0, failure: String(error) });
  process.send?.(await measured(round).catch(failed));
});
process.once('disconnect', () => process.exit());
