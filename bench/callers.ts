import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { wholeMessage } from './http-messages.js';

/** Calls by so many callers at a time, each as soon as it has its answer, over a connection of its own. */
export interface Round {
  readonly port: number;
  /** The whole request, head and body. */
  readonly request: string;
  readonly callers: number;
  readonly ms: number;
}

export interface Measured {
  /** The duration of each call, in milliseconds. */
  readonly times: readonly number[];
  readonly perSecond: number;
  /** The first answer that was not 200. */
  readonly failure: string | null;
}

/** Runs as a process: makes the calls of each round that it is sent, and sends back the measurements. */
async function measured({ port, request, callers, ms }: Round): Promise<Measured> {
  const bytes = Buffer.from(request);
  const times: number[] = [];
  let failure: string | null = null;
  const begun = performance.now();
  const caller = async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    while (performance.now() - begun < ms && failure === null) {
      const called = performance.now();
      const answer = await exchange(socket, bytes);
      times.push(performance.now() - called);
      if (!answer.startsWith('HTTP/1.1 200 ')) failure = answer;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { times, perSecond: (times.length * 1_000) / (performance.now() - begun), failure };
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
