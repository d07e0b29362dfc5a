import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRuntime } from '../../src/application/chat/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import type { RuntimeSource, RuntimeStatus } from '../../src/domain/chat/runtime.js';

export interface ChatRuntimesUnderTest {
  readonly runtimes: ChatRuntime;
  /** A model that answers `asked` with some words and then stops. Its context is `context` tokens. */
  readonly model: RuntimeSource;
  readonly asked: string;
  readonly context: number;
  /** A model that takes seconds for any answer. */
  readonly slow: RuntimeSource;
  /** A model that can't be used, and what its reason says. */
  readonly broken: RuntimeSource;
  readonly blame: RegExp;
  /** Gives back what the broken model lacks. */
  mend(): void;
  /** Whether tokens are counted before a call waits for its turn. */
  readonly countsFirst: boolean;
  /** A model whose answers are no completions. */
  readonly babbling: RuntimeSource;
  /** Ends what runs as a fault would. */
  crash(id: string): void;
  /** How many runtimes there are. */
  processes(): number;
}

export interface ChatRuntimesLimits {
  readonly queue: number;
  readonly timeoutMs: number;
  /** Whether `babbling` is needed: that may take another adapter than the rest. */
  readonly babbling: boolean;
}

type Texts = Partial<Record<'text' | 'id' | 'by', string>>;
type About = Partial<ChatRequest> & Texts & { signal?: AbortSignal; admitted?: () => void };

/** What the contracts do with the runtimes of a rig. */
export function callsTo(rig: () => ChatRuntimesUnderTest) {
  const reaches = (state: RuntimeStatus['state'], id = 'a') => statesUpTo(rig().runtimes, state, id);

  const started = async (source: RuntimeSource, id = 'a') => {
    rig().runtimes.start(id, source);
    await reaches('ready', id);
  };

  const ask = ({ text = rig().asked, id = 'a', by = 'usr_a', signal, admitted, ...rest }: About = {}) => {
    const messages = [{ role: 'user' as const, content: text }];
    const request = { messages, maxTokens: null, temperature: 0, ...rest };
    const answer = rig().runtimes.complete(id, request, by, signal ?? new AbortController().signal, admitted);
    answer.catch(() => undefined);
    return answer;
  };

  /** A call that the slow model works on, for as long an answer as there may be. It is meant to be aborted. */
  const occupy = (by?: string) => {
    const controller = new AbortController();
    return {
      answer: ask({ maxTokens: rig().context - 100, signal: controller.signal, ...(by && { by }) }),
      leave: (why: unknown) => controller.abort(why),
    };
  };

  return { ask, occupy, reaches, started };
}

/** Those from now on. */
async function statesUpTo(runtimes: ChatRuntime, state: RuntimeStatus['state'], id: string): Promise<RuntimeStatus[]> {
  const seen = [runtimes.status(id)];
  while (seen.at(-1)?.state !== state) {
    await pause(1);
    const now = runtimes.status(id);
    if (now.state !== seen.at(-1)?.state) seen.push(now);
  }
  return seen;
}
