/** The example of the recipe "add a chat engine" in CONTRIBUTING.md: an engine elsewhere with a different API. */
import { z } from 'zod';
import type { ChatRequest, Completion } from '../../../src/domain/chat/chat.js';
import type { OptionalField } from '../../../src/domain/chat/request-field.js';
import type { EngineChunk } from '../../../src/infrastructure/http-engine/engine-dialect.js';
import { specText } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { HttpChatEngine } from '../../../src/infrastructure/http-engine/http-chat-engine.js';

const Model = z.object({ parrot: specText('must be the name of a parrot') });
type Model = z.infer<typeof Model>;

const NO_REPLY = 'it is no reply.';

const says = z.string(NO_REPLY);
const End = z
  .object({ cut: z.boolean(NO_REPLY), heard: z.int(), said: z.int() }, NO_REPLY)
  .transform(({ cut, heard, said }) => ({
    finishReason: cut ? ('length' as const) : ('stop' as const),
    usage: { promptTokens: heard, cachedTokens: 0, completionTokens: said },
  }));

/** The whole answer: `{ "says": "Polly is fine.", "end": { "cut": false, "heard": 4, "said": 3 } }`. */
const Reply = z.object({ says, end: End }, NO_REPLY).transform(({ says: text, end }): Completion => ({ text, ...end }));

/** A line of a stream: `{ "says": "Polly " }`, or with `end` the last line. */
const Line = z
  .object({ says, end: End.optional() }, NO_REPLY)
  .transform(({ says: text, end }): EngineChunk => ({ text, ...end }));

export class ParrotChatEngine extends HttpChatEngine<Model> {
  readonly kind = 'parrot';
  protected readonly fields = Model;
  override readonly probePath = '/awake';
  override readonly framing = 'lines';
  readonly contextExceeded = /too many words/;
  readonly supported = new Set<OptionalField>(['seed', 'stop']);

  request({ messages, temperature, maxTokens, sampling = {} }: ChatRequest, { parrot }: Model, stream: boolean) {
    const said = messages.map(({ role, content }) => ({ by: role, text: content }));
    const { seed, stop } = sampling;
    return { path: '/say', body: { parrot, said, mood: temperature, words: maxTokens, seed, hush: stop, stream } };
  }

  answer() {
    return Reply;
  }

  override chunk() {
    return Line;
  }

  override headers(key: string | null): Record<string, string> {
    return key === null ? {} : { 'X-Cracker': key };
  }
}
