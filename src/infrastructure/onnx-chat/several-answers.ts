/**
 * Answers a request for several answers. Each answer is a call of its own: it has its own turn in the fair queue and
 * its own cost. Calls with the same prompt share the work for it through the prefix cache.
 */
import type { RuntimeCall } from '../../application/chat/ports.js';
import type { ChatRequest, Completion, CompletionEnd, CompletionPart, Usage } from '../../domain/chat/chat.js';

/** The most calls of one request that wait or run at once. */
const AT_ONCE = 8;

/** Returns a request for each answer. Each has a seed of its own, if the request has one. */
export function singleRequests(request: ChatRequest): ChatRequest[] {
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

/** Ends all calls of a request when one of them fails or the caller leaves. */
class Calls {
  private readonly end = new AbortController();
  private isAdmitted = false;
  readonly each: RuntimeCall;

  constructor(call: RuntimeCall) {
    const admitted = () => {
      if (!this.isAdmitted) call.admitted?.();
      this.isAdmitted = true;
    };
    this.each = { ...call, signal: AbortSignal.any([call.signal, this.end.signal]), admitted };
  }

  close(): void {
    this.end.abort(new Error('another answer to the same request has failed'));
  }
}

/** Returns the first answer with the others. Throws the first error of a call. */
export async function completeAll(
  request: ChatRequest,
  call: RuntimeCall,
  complete: (request: ChatRequest, call: RuntimeCall) => Promise<Completion>,
): Promise<Completion> {
  const requests = singleRequests(request);
  const calls = new Calls(call);
  const answers: Completion[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < requests.length; i = next++)
      answers[i] = await complete(requests[i] as ChatRequest, calls.each);
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
  const calls = new Calls(call);
  const ends: CompletionEnd[] = [];
  const open = new Map<number, AsyncGenerator<CompletionPart>>();
  const pending = new Map<number, Promise<{ i: number; result: IteratorResult<CompletionPart, unknown> }>>();
  const ask = (i: number, source: AsyncGenerator<CompletionPart>) => {
    const asked = source.next().then((result) => ({ i, result }));
    asked.catch(() => undefined); // the first failure ends the others
    pending.set(i, asked);
  };
  let begun = 0;
  try {
    for (;;) {
      for (; open.size < AT_ONCE && begun < requests.length; begun++) {
        const source = stream(requests[begun] as ChatRequest, calls.each);
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
