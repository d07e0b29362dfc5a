import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRuntimes, RuntimeCall } from '../../src/application/chat/ports.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import type { RuntimeSource, RuntimeStatus } from '../../src/domain/chat/runtime.js';
import { unlimited } from './records.js';

export interface ChatRuntimesUnderTest {
  readonly runtimes: ChatRuntimes;
  /** Answers `asked` with some words, then stops. Has a context of `context` tokens. */
  readonly model: RuntimeSource;
  readonly asked: string;
  readonly context: number;
  /** Takes seconds for any answer. */
  readonly slow: RuntimeSource;
  /** Cannot be used. `blame` matches the reason. */
  readonly broken: RuntimeSource;
  readonly blame: RegExp;
  /** Repairs the broken model. */
  mend(): void;
  /** True if calls are tokenized before they wait for their turn. */
  readonly countsFirst: boolean;
  /** True if parts come during the answer. Otherwise, the whole answer is one part. */
  readonly streams: boolean;
  /** Gives answers that are no completions. */
  readonly babbling: RuntimeSource;
  /** Ends a runtime as a fault would. */
  crash(id: string): void;
  /** Returns the number of runtimes that exist. */
  processes(): number;
}

export interface ChatRuntimesLimits {
  readonly queue: number;
  readonly timeoutMs: number;
  /** True if the test uses `babbling`. Some adapters need another worker for that. */
  readonly babbling: boolean;
}

type Texts = Partial<Record<'text' | 'id' | 'by', string>>;
type About = Partial<ChatRequest> & Texts & Partial<Pick<RuntimeCall, 'signal' | 'admitted' | 'made'>>;

/** Returns the actions of the contract suites on the runtimes of a rig. */
export function callsTo(rig: () => ChatRuntimesUnderTest) {
  const reaches = (state: RuntimeStatus['state'], id = 'a') => statesUpTo(rig().runtimes, state, id);

  const started = async (source: RuntimeSource, id = 'a') => {
    rig().runtimes.start(id, source);
    await reaches('ready', id);
  };

  const callOf = ({ text = rig().asked, id = 'a', by = 'usr_a', signal, admitted, made, ...rest }: About) => {
    const messages = [{ role: 'user' as const, content: text }];
    const request = { messages, maxTokens: null, temperature: 0, ...rest };
    const ending = signal ?? new AbortController().signal;
    const call = {
      caller: by,
      signal: ending,
      memory: unlimited,
      ...(admitted && { admitted }),
      ...(made && { made }),
    };
    return [id, request, call] as const;
  };

  const ask = (about: About = {}) => {
    const answer = rig().runtimes.complete(...callOf(about));
    answer.catch(() => undefined);
    return answer;
  };

  const count = (about: About = {}) => rig().runtimes.countTokens(...callOf(about));

  /** Begins to read an answer in parts. `all` returns all of them. */
  const take = (about: About = {}) => {
    const parts = rig()
      .runtimes.stream(...callOf(about))
      [Symbol.asyncIterator]();
    const first = parts.next();
    first.catch(() => undefined);
    const all = async () => {
      const taken: CompletionPart[] = [];
      for (let part = await first; !part.done; part = await parts.next()) taken.push(part.value);
      return taken;
    };
    return { first, all, leave: () => parts.return?.() };
  };

  /** Asks for the longest possible answer. */
  const longest = () => ({ maxTokens: rig().context - 100 });

  /** Begins a call with the longest possible answer on the slow model. The test aborts it. */
  const occupy = (by?: string) => {
    const controller = new AbortController();
    return {
      answer: ask({ ...longest(), signal: controller.signal, ...(by && { by }) }),
      leave: (why: unknown) => controller.abort(why),
    };
  };

  return { ask, count, take, longest, occupy, reaches, started };
}

/** Returns the states from now until `state`. */
async function statesUpTo(runtimes: ChatRuntimes, state: RuntimeStatus['state'], id: string): Promise<RuntimeStatus[]> {
  const seen = [runtimes.status(id)];
  while (seen.at(-1)?.state !== state) {
    await pause(1);
    const now = runtimes.status(id);
    if (now.state !== seen.at(-1)?.state) seen.push(now);
  }
  return seen;
}
