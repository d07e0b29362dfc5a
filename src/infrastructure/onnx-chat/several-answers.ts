/**
 * Answers a request for several answers. Each answer is a call of its own: it has its own turn in the fair queue and
 * its own cost. Calls with the same prompt share the work for it through the prefix cache. The first call of a prompt
 * begins alone, so a prompt that is refused is sent and tokenized only once.
 */
import type { RuntimeCall } from '../../application/chat/ports.js';
import type { ChatRequest, Completion, CompletionEnd, CompletionPart, Usage } from '../../domain/chat/chat.js';

/** The most calls of one request that wait or run at once. */
const AT_ONCE = 8;

/** Returns a request for each answer. Each has a seed of its own, if the request has one. */
function singleRequests(request: ChatRequest): ChatRequest[] {
  const { texts, choices = 1, ...single } = request;
  const prompts = texts ? texts.map((text) => ({ ...single, texts: [text] })) : [single];
  return prompts.flatMap((prompt) => Array.from({ length: choices }, (_, i) => seeded(prompt, i)));
}

function seeded({ sampling, ...request }: ChatRequest, i: number): ChatRequest {
  if (!sampling) return request;
  const { seed } = sampling;
  return { ...request, sampling: seed === undefined || i === 0 ? sampling : { ...sampling, seed: derived(seed, i) } };
}

/** Mixes a seed with the number of an answer, so that requests with neighbouring seeds share no answer. */
const derived = (seed: number, i: number): number =>
  Number(BigInt.asUintN(52, (BigInt(Math.trunc(seed)) + BigInt(i) * 0x9e3779b97f4a7c15n) * 0xbf58476d1ce4e5b9n));

/** The calls of one request. All end when one of them fails or the caller leaves. */
class Calls {
  private readonly end = new AbortController();
  private readonly signal: AbortSignal;
  private readonly choices: number;
  private readonly prompts: readonly FirstAdmission[];
  private isAdmitted = false;

  constructor(
    private readonly call: RuntimeCall,
    { texts, choices = 1 }: ChatRequest,
  ) {
    this.choices = choices;
    this.signal = AbortSignal.any([call.signal, this.end.signal]);
    this.prompts = Array.from({ length: texts?.length ?? 1 }, () => new FirstAdmission(this.signal));
  }

  /** Returns the call for an answer when it may begin. Rejects if the calls end before. */
  async of(i: number): Promise<RuntimeCall> {
    const prompt = this.prompts[Math.floor(i / this.choices)] as FirstAdmission;
    if (i % this.choices > 0) await prompt.reached;
    const admitted = () => {
      if (!this.isAdmitted) this.call.admitted?.();
      this.isAdmitted = true;
      prompt.reach();
    };
    const { made } = this.call;
    const ofPrompt = i % this.choices === 0;
    return { ...this.call, signal: this.signal, admitted, made: (usage) => made?.(usage.then(sharedBy(ofPrompt))) };
  }

  close(): void {
    this.end.abort(new Error('another answer to the same request has failed'));
  }
}

/** The moment when the first answer to a prompt is admitted. The others begin then. */
class FirstAdmission {
  readonly reached: Promise<void>;
  reach = () => {};

  /** `reached` rejects if the signal is aborted before. */
  constructor(signal: AbortSignal) {
    this.reached = new Promise((resolve, reject) => {
      this.reach = resolve;
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    this.reached.catch(() => undefined);
  }
}

/** Returns the first answer with the others. Throws the first error of a call. */
export async function completeAll(
  request: ChatRequest,
  call: RuntimeCall,
  complete: (request: ChatRequest, call: RuntimeCall) => Promise<Completion>,
): Promise<Completion> {
  const requests = singleRequests(request);
  const calls = new Calls(call, request);
  const answers: Completion[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < requests.length; i = next++)
      answers[i] = await complete(requests[i] as ChatRequest, await calls.of(i));
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, requests.length) }, work));
  } finally {
    calls.close();
  }
  const [first, ...others] = answers as [Completion, ...Completion[]];
  return { ...first, others, ...endOf(answers, request) };
}

/** Yields the parts of all answers as they come. `choice` is the number of the answer. */
export async function* streamAll(
  request: ChatRequest,
  call: RuntimeCall,
  stream: (request: ChatRequest, call: RuntimeCall) => AsyncGenerator<CompletionPart>,
): AsyncGenerator<CompletionPart> {
  const requests = singleRequests(request);
  const calls = new Calls(call, request);
  const ends: CompletionEnd[] = [];
  const open = new Map<number, AsyncGenerator<CompletionPart>>();
  const pending = new Map<number, Promise<{ i: number; result: IteratorResult<CompletionPart, unknown> }>>();
  const ask = (i: number, source: AsyncGenerator<CompletionPart>) => {
    const asked = source.next().then((result) => ({ i, result }));
    asked.catch(() => undefined); // the first failure ends the others
    pending.set(i, asked);
  };
  const begin = async function* (i: number) {
    yield* stream(requests[i] as ChatRequest, await calls.of(i));
  };
  let begun = 0;
  try {
    for (;;) {
      for (; open.size < AT_ONCE && begun < requests.length; begun++) {
        const source = begin(begun);
        open.set(begun, source);
        ask(begun, source);
      }
      if (open.size === 0) break;
      const { i, result } = await Promise.race(pending.values());
      const source = open.get(i) as AsyncGenerator<CompletionPart>;
      if (result.done) {
        open.delete(i);
        pending.delete(i);
        continue;
      }
      const { end, ...part } = result.value;
      if (end) ends[i] = end;
      yield { ...part, choice: i, ...(end && { ended: endedOf(end) }) };
      ask(i, source);
    }
    yield { text: '', end: endOf(ends, request) };
  } finally {
    calls.close();
    await Promise.all([...open.values()].map((source) => source.return(undefined).catch(() => undefined)));
  }
}

/** Returns a function that leaves out the tokens of the prompt, unless the answer is the first to it. */
const sharedBy = (isFirst: boolean) => (usage: Usage | null) =>
  usage && !isFirst ? { ...usage, promptTokens: 0, cachedTokens: 0 } : usage;

const endedOf = ({ finishReason, stopText }: CompletionEnd) => ({
  finishReason,
  ...(stopText !== undefined && { stopText }),
});

/** Counts each prompt once, and the tokens of all answers. */
function endOf(ends: readonly CompletionEnd[], { choices = 1 }: ChatRequest): CompletionEnd {
  const [first] = ends as [CompletionEnd, ...CompletionEnd[]];
  const usage: Usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  const total = ends.reduce((sum, { usage: one }, i) => {
    const ofPrompt = i % choices === 0 ? one : null;
    return {
      promptTokens: sum.promptTokens + (ofPrompt?.promptTokens ?? 0),
      cachedTokens: sum.cachedTokens + (ofPrompt?.cachedTokens ?? 0),
      completionTokens: sum.completionTokens + (one?.completionTokens ?? 0),
    };
  }, usage);
  const times = ends.flatMap(({ timing }) => timing ?? []);
  const timing = {
    firstTokenMs: Math.min(...times.map(({ firstTokenMs }) => firstTokenMs)),
    tookMs: Math.max(...times.map(({ tookMs }) => tookMs)),
  };
  return { ...endedOf(first), usage: total, ...(times.length > 0 && { timing }) };
}
