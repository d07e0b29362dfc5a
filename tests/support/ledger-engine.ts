import { request, type ServerResponse } from 'node:http';
import type { HttpCaller } from './http-caller.js';
import { sendJson } from './local-server.js';
import { chunk, completion, type Script, sendEvents } from './scripted-engine.js';
import { ask } from './workspace.js';

/** The outcome of a call at the engine: see `Ledger.answer`. */
export const outcomes = ['whole', 'stream', 'break', 'leave', 'hang', 'nonsense'] as const;
export type Outcome = (typeof outcomes)[number] | 'wait';

/** Every answer has at most this many tokens. */
export const BOUND = 3;

/** Keeps the books of an engine: what it has made, and so what its users have to pay. */
export class Ledger {
  calls = 0;
  tokens = 0;
  /** Counts all calls, also those that cost nothing. */
  asked = 0;
  private readonly begun = new Map<string, () => void>();
  private readonly waiting = new Set<() => void>();

  /** Does what the last message says: an outcome, a number of tokens, and the name of the call. */
  readonly script: Script = ({ body }, response) => {
    const [outcome, count, name] = body.messages.at(-1).content.split(' ');
    this.asked++;
    this.answer(outcome, Number(count), response);
    this.begun.get(name)?.();
  };

  /** Ends the calls that wait. */
  release(): void {
    for (const end of this.waiting) end();
    this.waiting.clear();
  }

  /** Makes a call whose answer has `count` tokens. Leaves it as soon as the engine has made all that it makes. */
  async call(service: HttpCaller, { token, project, outcome, count, name }: LedgerCall): Promise<number> {
    const isStream = ['stream', 'break', 'leave'].includes(outcome);
    const json = ask(project, `${outcome} ${count} ${name}`, { max_tokens: BOUND, ...(isStream && { stream: true }) });
    const path = '/openai/v1/chat/completions';
    if (outcome === 'leave') return left(service.url + path, { token, json, count });
    const leaving = new AbortController();
    if (outcome === 'hang') this.begun.set(name, () => leaving.abort());
    const { signal } = leaving;
    const answered = service.call('POST', path, { token, json, signal }).then(({ status }) => status);
    return answered.catch(() => LEFT).finally(() => this.begun.delete(name));
  }

  private answer(outcome: Outcome, count: number, response: ServerResponse): void {
    switch (outcome) {
      case 'nonsense': // costs nothing
        sendJson(response, 200, { choices: 'none' });
        return;
      case 'whole':
        this.charge(count);
        sendJson(response, 200, answerOf(count));
        return;
      case 'wait':
        this.waiting.add(() => sendJson(response, 200, answerOf(count)));
        this.charge(count);
        return;
      case 'hang': // the engine would have made the whole answer
        this.charge(BOUND);
        return;
    }
    this.charge(count);
    sendEvents(response, chunk('m', { role: 'assistant', content: '' }));
    for (let nth = 0; nth < count; nth++) sendEvents(response, chunk('m', { content: ' word' }));
    if (outcome === 'break') response.write('data: nonsense\n\n');
    if (outcome === 'leave') return;
    if (outcome === 'stream')
      sendEvents(response, chunk('m', {}, 'stop'), chunk('m', null, null, usageOf(count)), '[DONE]');
    response.end();
  }

  private charge(tokens: number): void {
    this.calls++;
    this.tokens += tokens;
  }
}

export interface LedgerCall {
  readonly token: string;
  readonly project: string;
  readonly outcome: Outcome;
  readonly count: number;
  readonly name: string;
}

/** The status of a call whose caller has left, or whose instance was killed. */
export const LEFT = 0;

const usageOf = (count: number) => ({ usage: { prompt_tokens: 5, completion_tokens: count } });
const answerOf = (count: number) => completion('m', 'word '.repeat(count), usageOf(count));

/** Leaves a stream after `count` parts with content. */
function left(url: string, { token, json, count }: { token: string; json: object; count: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
        if (text.split('" word"').length <= count) return;
        sent.destroy();
        resolve(LEFT);
      });
      response.on('end', () => resolve(response.statusCode ?? LEFT)).on('error', () => resolve(LEFT));
    });
    sent.on('error', reject).end(JSON.stringify(json));
  });
}
