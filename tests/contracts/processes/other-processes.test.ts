import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { AnswerProcesses } from '../../../src/application/processes/answer-processes.js';
import type { ModelStates, RuntimeCall } from '../../../src/application/processes/ports.js';
import type { TimedCompletion } from '../../../src/domain/chat/chat.js';
import { ModelBusy } from '../../../src/domain/chat/errors.js';
import { processKeys } from '../../../src/infrastructure/crypto/process-keys.js';
import { HttpOtherProcesses } from '../../../src/infrastructure/peers/http-other-processes.js';
import { peerRoutes } from '../../../src/interfaces/http/peers/peers.js';
import { MemoryInstanceRegistry, MemoryProcesses } from '../../fakes/jobs/memory-instance-registry.js';
import { MemoryOtherProcesses } from '../../fakes/processes/memory-other-processes.js';
import { otherProcessesContract } from './other-processes.contract.js';

/** What a process answers, and what it was asked to settle. */
function answering(says: (id: string) => Partial<ModelStates>) {
  const settled: string[] = [];
  const states = async (ids: readonly string[]): Promise<ModelStates> => {
    const said = ids.map(says);
    return {
      deployments: Object.assign({}, ...said.map(({ deployments }) => deployments)),
      runtimes: Object.assign({}, ...said.map(({ runtimes }) => runtimes)),
    };
  };
  const settle = async (id: string) => {
    says(id);
    settled.push(id);
  };
  const chats = { begun: 0, ended: 0 };
  /** Says back all that it was told. */
  const complete = async (call: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion> => {
    const said = call.request.messages.at(-1)?.content;
    if (said === 'busy') throw new ModelBusy(3);
    if (said === 'broken') throw new Error('planted');
    if (said === 'forever') {
      chats.begun++;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))).finally(() => {
        chats.ended++;
      });
    }
    return { completion: { text: JSON.stringify(call), finishReason: 'stop', usage: null }, latency: 0.25 };
  };
  return { settled, chats, states, settle, complete };
}

otherProcessesContract('memory', async () => {
  const others = new MemoryOtherProcesses();
  let last = 0;
  return {
    others,
    process: async (says) => {
      const process = answering(says);
      others.reachable.set(++last, process);
      return { number: last, settled: process.settled, chats: process.chats };
    },
    unreachable: async () => ++last,
  };
});

const HI = { messages: [{ role: 'user' as const, content: 'Hi' }], maxTokens: 7, temperature: 0 };

describe('over HTTP', () => {
  const known = new MemoryProcesses();
  const servers: Server[] = [];
  const others = new HttpOtherProcesses(new MemoryInstanceRegistry(known), processKeys('a secret of this test'), 5_000);
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  const enter = async (secret: string, says: (id: string) => Partial<ModelStates>) => {
    const process = answering(says);
    const living = new MemoryInstanceRegistry(known);
    const number = await living.own();
    const app = express();
    const answer = process as unknown as AnswerProcesses;
    app.use(peerRoutes({ answer, number, keyOf: processKeys(secret), urlOf: async () => null, timeoutMs: 20_000 }));
    app.use((_error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
      response.status(500).json({});
    });
    const server = createServer(app);
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await living.introduce({ name: `host:${number}`, url });
    return { number, url, settled: process.settled, chats: process.chats };
  };

  otherProcessesContract('HTTP', async () => ({
    others,
    process: (says) => enter('a secret of this test', says),
    unreachable: async () => {
      const living = new MemoryInstanceRegistry(known);
      await living.introduce({ name: 'gone', url: 'http://127.0.0.1:1' });
      return living.own();
    },
  }));

  /** What is said where a process, or a stranger, writes this and no more. */
  const said = async (answer: string, ends = true) => {
    const server = createServer((_request, response) => {
      response.socket?.[ends ? 'end' : 'write'](answer);
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const living = new MemoryInstanceRegistry(known);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await living.introduce({ name: 'odd', url });
    return living.own();
  };
  const ok = (length: number, body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`;

  it('takes no answer that leads elsewhere, is cut off, too long, or no HTTP', async () => {
    const { url, settled } = await enter('a secret of this test', () => ({}));
    expect(await others.settle(await said(ok(2, '{}')), 'dep_1')).toBe(true);
    const long = `"${'x'.repeat(17 * 1024 * 1024)}"`;
    for (const answer of [
      `HTTP/1.1 307 Elsewhere\r\nLocation: ${url}/processes/settle?ids=dep_1\r\nContent-Length: 2\r\n\r\n{}`,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      ok(9, '{}'),
      ok(long.length, long),
      'hello',
      '',
    ]) {
      expect(await others.settle(await said(answer), 'dep_1')).toBe(false);
    }
    expect(settled).toEqual([]);
  });

  it.each(['', ok(9, '{}')])('ends with its signal whatever had come: %j', async (begun) => {
    const number = await said(begun, false);
    const abort = new AbortController();
    const answer = others.complete(number, { projectId: 'prj_1', caller: 'usr_1', request: HI }, abort.signal);
    setTimeout(() => abort.abort(new Error('enough')), 50);
    await expect(answer).rejects.toThrow('enough');
  });

  it('is no way for those who do not share the secret, nor for the key of another process', async () => {
    const { number, url, settled } = await enter('another secret', () => ({}));
    expect(await others.settle(number, 'dep_1')).toBe(false);
    const keyOf = processKeys('another secret');
    const keys = [undefined, '', 'x', keyOf(number).slice(1), keyOf(number + 1)];
    for (const key of keys) {
      const headers = key === undefined ? undefined : { 'X-Tenon-Process': key };
      const response = await fetch(`${url}/processes/settle?ids=dep_1`, {
        method: 'POST',
        ...(headers && { headers }),
      });
      expect(response.ok).toBe(false);
    }
    expect(settled).toEqual([]);
  });
});
