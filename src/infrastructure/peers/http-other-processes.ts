import type { LivingProcesses } from '../../application/jobs/ports/living-processes.js';
import type { ModelStates, OtherProcesses, RuntimeCall } from '../../application/processes/ports/other-processes.js';
import type { TimedCompletion } from '../../domain/chat/chat.js';
import { RefusedElsewhere } from '../../domain/processes/errors.js';
import type { DomainError } from '../../domain/shared/errors.js';

/** So many ids fit into the head of a request. */
const AT_ONCE = 100;
/** More than a probe of all that a process runs may take. */
const STATES_MS = 3_000;
/** More than a process that has to be ended by force may take. */
const SETTLE_MS = 10_000;

interface Given {
  readonly body: string;
  readonly signal: AbortSignal;
}

type Told = TimedCompletion | { readonly refusal: Pick<DomainError, 'kind' | 'code' | 'message' | 'advice'> };

/** Asks them over HTTP, where they serve the API too, by a key that only those have who share the secret. */
export class HttpOtherProcesses implements OtherProcesses {
  constructor(
    private readonly processes: Pick<LivingProcesses, 'url'>,
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
      const init = { method, headers, signal, redirect: 'error', ...(given && { body: given.body }) } as const;
      const response = await fetch(`${url}/processes/${what}`, init);
      const answer = await response.json();
      return response.ok ? answer : null;
    } catch {
      return null;
    }
  }
}
