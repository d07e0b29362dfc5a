/** Writes the events of a response as OpenAI publishes them. */
import type { ResponseStep } from '../../../../application/chat/response-reader.js';
import type { AnswerStep } from '../../../../domain/chat/answer-assembly.js';
import type { AnswerItem, Response } from '../../../../domain/chat/response.js';
import type { Problem } from '../../refusals.js';
import type { OpenAiError } from '../openai/openai-errors.js';
import { itemJson, logprobsJson, responseJson, textJson, wantsSummary } from './answer-mapper.js';
import { itemId } from './items.js';
import { ownWords } from './own-words.js';

const lastTypes = { completed: 'response.completed', failed: 'response.failed' } as const;

/** The texts of events. The same steps of a response give the same events with the same numbers. */
export class ResponseEvents {
  private number = 0;
  private hasBegun = false;
  private readonly begun: Response;

  /** Leaves out events with numbers up to `after`. */
  constructor(
    private readonly response: Response,
    private readonly after = -1,
  ) {
    const fresh = { output: [], usage: null, failure: null, finishedAt: null };
    this.begun = { ...response, ...fresh, status: response.background ? 'queued' : 'in_progress' };
  }

  async *of(steps: AsyncIterable<ResponseStep>): AsyncGenerator<string, void> {
    if (this.response.background) {
      const queued = this.begin() + this.event('response.queued', { response: responseJson(this.begun) });
      if (queued !== '') yield queued;
    }
    for await (const step of steps) {
      const text = this.textOf(step);
      if (text !== '') yield text;
    }
  }

  /**
   * Returns the last events of a stream that has failed. A response in the background goes on without its stream. The
   * `error` then repeats the last number, so that a reader who goes on after this number misses no event.
   */
  failed({ status, body }: Problem): string {
    const { code, message } = (body as OpenAiError).error;
    if (this.response.background) {
      const sequence_number = Math.max(0, this.number - 1);
      return eventText('error', { sequence_number, code, message: ownWords(message), param: null });
    }
    const failure = { code, message, isBusy: status === 429 };
    const response = responseJson({ ...this.begun, status: 'failed', failure });
    return this.begin() + this.event('response.failed', { response });
  }

  private textOf(step: ResponseStep): string {
    if (step.step === 'running') {
      const running = { response: responseJson({ ...this.begun, status: 'in_progress' }) };
      return this.begin() + this.event('response.in_progress', running);
    }
    if (step.step !== 'finished') return this.ofItem(step);
    const { status } = step.response;
    const type = status === 'completed' || status === 'failed' ? lastTypes[status] : 'response.incomplete';
    return this.begin() + this.event(type, { response: responseJson(step.response) });
  }

  private begin(): string {
    if (this.hasBegun) return '';
    this.hasBegun = true;
    return this.event('response.created', { response: responseJson(this.begun) });
  }

  private ofItem(step: AnswerStep): string {
    const { item } = step;
    const place = { item_id: itemId(this.response.id, item), output_index: item.index };
    if (step.step === 'begun') {
      const added = { output_index: item.index, item: itemJson(this.response, item, false) };
      return this.event('response.output_item.added', added) + this.part(item, 'added');
    }
    if (step.step === 'ended') {
      const done = { output_index: item.index, item: itemJson(this.response, item) };
      return this.whole(item) + this.part(item, 'done') + this.event('response.output_item.done', done);
    }
    const { text: delta, logprobs } = step;
    if (item.kind === 'call') return this.event('response.function_call_arguments.delta', { ...place, delta });
    if (item.kind === 'reasoning') return this.event(`${this.thought}.delta`, { ...place, ...this.at(item), delta });
    return this.event('response.output_text.delta', {
      ...{ ...place, ...this.at(item), delta, logprobs: logprobsJson(logprobs) },
    });
  }

  /** Returns the event with the whole text of an item. */
  private whole(item: AnswerItem): string {
    const place = { item_id: itemId(this.response.id, item), output_index: item.index };
    if (item.kind === 'call') {
      const { name, arguments: text } = item;
      return this.event('response.function_call_arguments.done', { ...place, name, arguments: text });
    }
    const { text } = item;
    if (item.kind === 'reasoning') return this.event(`${this.thought}.done`, { ...place, ...this.at(item), text });
    const logprobs = logprobsJson(item.logprobs ?? []);
    return this.event('response.output_text.done', { ...place, ...this.at(item), text, logprobs });
  }

  private part(item: AnswerItem, what: 'added' | 'done'): string {
    if (item.kind === 'call') return '';
    const isSummary = item.kind === 'reasoning' && wantsSummary(this.response);
    const type = isSummary ? 'summary_text' : 'reasoning_text';
    const part = item.kind === 'text' ? textJson(item.text, item.logprobs) : { type, text: item.text };
    const place = { item_id: itemId(this.response.id, item), output_index: item.index, ...this.at(item) };
    return this.event(`response.${isSummary ? 'reasoning_summary_part' : 'content_part'}.${what}`, { ...place, part });
  }

  private get thought(): string {
    return wantsSummary(this.response) ? 'response.reasoning_summary_text' : 'response.reasoning_text';
  }

  /** Each item has one part. */
  private at({ kind }: AnswerItem): object {
    return kind === 'reasoning' && wantsSummary(this.response) ? { summary_index: 0 } : { content_index: 0 };
  }

  private event(type: string, fields: object): string {
    const sequence_number = this.number++;
    if (sequence_number <= this.after) return '';
    return eventText(type, { sequence_number, ...fields });
  }
}

const eventText = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
