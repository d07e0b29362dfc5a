import { type IncomingMessage, request } from 'node:http';
import type { InstanceRegistry } from '../../application/jobs/ports.js';
import type { ModelStates, OtherProcesses, RuntimeCall } from '../../application/processes/ports.js';
import type { TimedCompletion } from '../../domain/chat/chat.js';
import { RefusedElsewhere } from '../../domain/processes/errors.js';
import type { DomainError } from '../../domain/shared/errors.js';

/** So many ids fit into the head of a request. */
const AT_ONCE = 100;
/** More than a probe of all that a process runs may take. */
const STATES_MS = 3_000;
/** More than a process that has to be ended by force may take. */
const SETTLE_MS = 10_000;
/** More than the answer of a model and the states of so many can be. */
const MOST_BYTES = 16 * 1024 * 1024;

interface Given {
  readonly body: string;
  readonly signal: AbortSignal;
}

type Told = TimedCompletion | { readonly refusal: Pick<DomainError, 'kind' | 'code' | 'message' | 'advice'> };

/** Asks them over HTTP, where they serve the API too, by a key that only those have who share the secret. */
export class HttpOtherProcesses implements OtherProcesses {
  constructor(
    private readonly processes: Pick<InstanceRegistry, 'url'>,
    private readonly keyOf: (process: number) => string,
    /** How long an answer of a model may take. */
    private readonly completeMs: number,
  ) {}

  async states(process: number, ids: readonly string[]): Promise<ModelStates | null> {
    const states: ModelStates = { deployments: {}, runtimes: {} };
    for (let first = 0; first < ids.length; first += AT_ONCE) {
      const some = ids.slice(first, first + AT_ONCE).join(',');
      const told = (await this.ask(process, 'GET', `states?ids=${some}`, STATES_MS)) as ModelStates | null;
      if (!told) return null;
      Object.assign(states.deployments, told.deployments);
      Object.assign(states.runtimes, told.runtimes);
    }
    return states;
  }

  async settle(process: number, id: string): Promise<boolean> {
    return (await this.ask(process, 'POST', `settle?ids=${id}`, SETTLE_MS)) !== null;
  }

  async complete(process: number, call: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion | null> {
    const given = { body: JSON.stringify(call), signal };
    const told = (await this.ask(process, 'POST', 'complete', this.completeMs, given)) as Told | null;
    signal.throwIfAborted();
    if (told && 'refusal' in told) throw new RefusedElsewhere(told.refusal);
    return told;
  }

  private async ask(process: number, method: string, what: string, ms: number, given?: Given): Promise<unknown> {
    try {
      const url = await this.processes.url(process);
      if (url === null) return null;
      const headers = {
        'X-Tenon-Process': this.keyOf(process),
        ...(given && { 'Content-Type': 'application/json' }),
      };
      const late = AbortSignal.timeout(ms);
      const signal = given ? AbortSignal.any([late, given.signal]) : late;
      // A connection for each: a kept one may be closed by the other side just now, and nothing may be asked twice.
      const options = { method, headers, signal, agent: false };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const asked = request(`${url}/processes/${what}`, options, resolve).on('error', reject);
        asked.on('close', () => reject(new Error('the connection ended'))).end(given?.body);
      });
      const answer = JSON.parse(await textOf(response));
      return response.statusCode === 200 ? answer : null;
    } catch {
      return null;
    }
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
