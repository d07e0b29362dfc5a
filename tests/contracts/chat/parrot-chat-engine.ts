/** The example of the recipe "add a chat engine" in CONTRIBUTING.md: an engine elsewhere with a different API. */
import { z } from 'zod';
import type { ChatRequest, Completion } from '../../../src/domain/chat/chat.js';
import { specText } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { HttpChatEngine } from '../../../src/infrastructure/http-engine/http-chat-engine.js';

const Model = z.object({ parrot: specText('must be the name of a parrot') });
type Model = z.infer<typeof Model>;

const NO_REPLY = 'it is no reply.';

const Reply = z
  .object(
    { reply: z.string(NO_REPLY).min(1, NO_REPLY), cut: z.boolean(NO_REPLY), heard: z.int(), said: z.int() },
    NO_REPLY,
  )
  .transform(
    ({ reply, cut, heard, said }): Completion => ({
      text: reply,
      finishReason: cut ? 'length' : 'stop',
      usage: { promptTokens: heard, cachedTokens: 0, completionTokens: said },
    }),
  );

export class ParrotChatEngine extends HttpChatEngine<Model> {
  readonly kind = 'parrot';
  protected readonly fields = Model;
  override readonly probePath = '/awake';
  readonly contextExceeded = /too many words/;

  request({ messages, temperature, maxTokens }: ChatRequest, { parrot }: Model) {
    return { path: '/say', body: { parrot, messages, mood: temperature, words: maxTokens } };
  }

  answer() {
    return Reply;
  }

  override headers(key: string | null): Record<string, string> {
    return key === null ? {} : { 'X-Cracker': key };
  }
}
