import { batch, computed, signal } from '@preact/signals';
import { type ApiError, answer, api, type Schemas, sentAt } from '../../shared/api.js';
import type { Usage } from './events.js';
import { type HistoryMessage, requestOf, type Settings } from './request.js';
import { type End, errorOf, StreamedAnswer } from './streamed-answer.js';

export interface Message extends HistoryMessage {
  /** Identifies the message in its chat. */
  readonly key: number;
  /** The end of an answer of this page. Stored answers do not have this. */
  readonly end?: End | 'stopped' | 'failed';
  readonly figures?: Figures;
  /** The id of an answer of this page, by which its call can be found. */
  readonly answerId?: string | null;
}

export interface Figures {
  /** Seconds from the call to the first text. */
  readonly firstText: number | null;
  /** Seconds from the call to the end. */
  readonly total: number;
  readonly usage: Usage | null;
}

/** The reason why there is no answer. If `retryIn` is set, the chat asks again after this number of seconds. */
export interface Failure {
  readonly error: ApiError;
  readonly retryIn: number | null;
}

/** The codes of errors after which the same call can succeed later. */
const PASSING = ['model_busy', 'runtime_loading', 'rate_limited', 'busy'];
const MOST_TRIES = 12;
const LONGEST_WAIT_S = 10;
const MOST_PER_PAGE = 1_000;
/** The number of messages in a turn: a question and its answer. */
const TURN = 2;

let keys = 0;

/** A chat with a project: its messages, the answer that is being received, and the conversation that stores it. */
export class Chat {
  readonly messages = signal<readonly Message[]>([]);
  /** The text of the answer so far, or null if no answer is being received. */
  readonly partialText = signal<string | null>(null);
  readonly isAnswering = computed(() => this.partialText.value !== null);
  readonly failure = signal<Failure | null>(null);
  /** The number of messages at the beginning that the last request left out. */
  readonly leftOut = signal(0);
  /** True while a conversation is being loaded. */
  readonly loading = signal(false);
  /** The system prompt of the opened conversation, or null if none was opened. */
  readonly storedSystem = signal<string | null>(null);
  /** Counts the changes that this chat has made to the stored conversations. */
  readonly stored = signal(0);
  /** The stored conversation. `count` is the number of its messages without the system prompt. */
  private kept: { readonly id: string; readonly count: number } | null = null;
  private running: AbortController | null = null;
  /** The largest number of messages to send. `shorten` lowers it. */
  private most = Number.POSITIVE_INFINITY;

  constructor(
    readonly projectId: string,
    private readonly onKept: (conversationId: string) => void,
  ) {}

  /** Shows a conversation. null starts a new one. */
  async open(conversationId: string | null): Promise<void> {
    const isOpen = conversationId === (this.kept?.id ?? null);
    if (isOpen && (conversationId !== null || this.messages.value.length === 0)) return;
    this.leave();
    const opening = this.begin();
    batch(() => {
      this.messages.value = [];
      this.failure.value = null;
      this.storedSystem.value = null;
      this.leftOut.value = 0;
      this.loading.value = conversationId !== null;
    });
    this.kept = null;
    this.most = Number.POSITIVE_INFINITY;
    if (conversationId === null) return;
    try {
      const stored = await this.load(conversationId, opening.signal);
      const system = stored[0]?.role === 'system' ? stored[0].content : '';
      const shown = system === '' ? stored : stored.slice(1);
      batch(() => {
        this.messages.value = shown.map(({ role, content }) => ({ key: ++keys, role, text: content }));
        this.storedSystem.value = system;
        this.loading.value = false;
      });
      this.kept = { id: conversationId, count: shown.length };
    } catch (reason) {
      if (opening.signal.aborted) return;
      batch(() => {
        this.failure.value = { error: errorOf(reason), retryIn: null };
        this.loading.value = false;
      });
    }
  }

  /** Shows these messages, which no conversation stores. */
  show(messages: readonly HistoryMessage[]): void {
    this.leave();
    this.kept = null;
    this.most = Number.POSITIVE_INFINITY;
    batch(() => {
      this.messages.value = messages.map(({ role, text }) => ({ key: ++keys, role, text }));
      this.failure.value = null;
      this.storedSystem.value = null;
      this.leftOut.value = 0;
    });
  }

  /** Asks a question. Resolves to true if it was answered. */
  ask(text: string, settings: Settings): Promise<boolean> {
    const answered = this.messages.value.filter(
      ({ role }, index, all) => role !== 'user' || all[index + 1]?.role === 'assistant',
    );
    this.messages.value = [...answered, { key: ++keys, role: 'user', text }];
    return this.run(settings);
  }

  /** Asks the last question again and replaces its answer. */
  again(settings: Settings): Promise<boolean> {
    const last = this.messages.value.findLastIndex(({ role }) => role === 'user');
    this.messages.value = this.messages.value.slice(0, last + 1);
    return this.run(settings);
  }

  /** Asks the last question again, with the newer half of the messages. */
  shorten(settings: Settings): Promise<boolean> {
    this.most = Math.ceil((this.messages.value.length - this.leftOut.value) / 2);
    return this.again(settings);
  }

  /** Replaces a question and all messages after it with another question, and asks it. */
  edit(key: number, text: string, settings: Settings): Promise<boolean> {
    const at = this.messages.value.findIndex((message) => message.key === key);
    this.messages.value = [...this.messages.value.slice(0, at), { key: ++keys, role: 'user', text }];
    return this.run(settings);
  }

  /** Stops the answer. Keeps its text so far. */
  stop(): void {
    this.running?.abort();
  }

  /** Stops the answer and drops its text, because the user leaves the chat. */
  leave(): void {
    this.stop();
    this.running = null;
    this.partialText.value = null;
  }

  private begin(): AbortController {
    this.running?.abort();
    this.running = new AbortController();
    return this.running;
  }

  private async load(conversation_id: string, abort: AbortSignal): Promise<Schemas['ConversationMessage'][]> {
    const all: Schemas['ConversationMessage'][] = [];
    const path = { project_id: this.projectId, conversation_id };
    for (let cursor: number | undefined; ; ) {
      const query = { limit: MOST_PER_PAGE, cursor };
      const page = await answer(
        api.GET('/v1/projects/{project_id}/conversations/{conversation_id}', {
          params: { path, query },
          signal: abort,
        }),
      );
      all.unshift(...page.messages);
      if (page.next_cursor === null) return all;
      cursor = Number(page.next_cursor);
    }
  }

  private async run(settings: Settings): Promise<boolean> {
    const running = this.begin();
    this.failure.value = null;
    this.partialText.value = '';
    for (let tries = 1; ; tries++) {
      const error = await this.attempt(running, settings);
      if (this.running !== running) return false;
      const waits = error && PASSING.includes(error.code) && error.retryAfter !== null && tries < MOST_TRIES;
      const retryIn = waits ? Math.max(error.retryAfter ?? 1, Math.min(2 ** (tries - 1), LONGEST_WAIT_S)) : null;
      this.failure.value = error && { error, retryIn };
      if (retryIn !== null && (await passed(retryIn, running.signal))) continue;
      batch(() => {
        this.partialText.value = null;
        if (error && retryIn !== null) this.failure.value = { error, retryIn: null };
      });
      return error === null;
    }
  }

  /** Asks once. Resolves to the error, or to null if the answer is complete or the user stopped it. */
  private async attempt(running: AbortController, settings: Settings): Promise<ApiError | null> {
    const history = this.messages.value;
    const sent = history.slice(-Math.min(this.most, history.length));
    const request = requestOf({ model: this.projectId, settings, history: sent });
    this.leftOut.value = history.length - request.messages.filter(({ role }) => role !== 'system').length;
    const isNext = this.kept !== null && this.kept.count === history.length - 1;
    const place = isNext && this.kept ? this.kept.id : 'new';
    let started = performance.now();
    const streamed = new StreamedAnswer((text) => {
      if (this.running === running) this.partialText.value = text;
    });
    let end: Message['end'];
    let error: ApiError | null = null;
    let headers = new Headers();
    try {
      const call = api.POST('/openai/v1/chat/completions', {
        params: { header: { 'X-Conversation-Id': place } },
        body: request,
        parseAs: 'stream',
        signal: running.signal,
      });
      const body = await answer(
        call.then((result) => {
          headers = result.response.headers;
          started = sentAt(result.response); // the call may have waited for a sign-in before
          return result;
        }),
      );
      end = await streamed.read(body as unknown as ReadableStream<Uint8Array>, started);
      const id = headers.get('X-Conversation-Id');
      if (this.running === running && id) this.storedIn(id, history);
    } catch (reason) {
      end = running.signal.aborted ? 'stopped' : 'failed';
      error = running.signal.aborted ? null : errorOf(reason, headers.get('X-Request-Id'));
      // the conversation is gone, so the next attempt creates another
      if (error?.code === 'not_found') this.kept = null;
    }
    if (this.running !== running) return null;
    const { text, firstText, usage, id: answerId } = streamed;
    const figures = { firstText, total: (performance.now() - started) / 1000, usage };
    batch(() => {
      if (text === '' && (end === 'failed' || end === 'stopped')) return;
      this.messages.value = [...history, { key: ++keys, role: 'assistant', text, end, figures, answerId }];
      this.partialText.value = null;
    });
    return error;
  }

  /**
   * Records that the conversation `id` has the history and its answer. If the last turn of a conversation was asked
   * again, the new conversation replaces the old one, so that the list does not fill with attempts. If an earlier turn
   * was asked again, both conversations stay.
   */
  private storedIn(id: string, history: readonly Message[]): void {
    const before = this.kept;
    this.kept = { id, count: history.length + 1 };
    this.stored.value += 1;
    if (before?.id === id) return;
    this.onKept(id);
    const replaced = before !== null && before.count - (history.length - 1) <= TURN && this.leftOut.value === 0;
    if (!replaced) return;
    const path = { project_id: this.projectId, conversation_id: before.id };
    const deletion = api.DELETE('/v1/projects/{project_id}/conversations/{conversation_id}', { params: { path } });
    const tell = () => {
      this.stored.value += 1;
    };
    answer(deletion).then(tell, () => {}); // after a failure it stays in the list
  }
}

/** Resolves to true after this number of seconds, or to false if `stopped` aborts earlier. */
function passed(seconds: number, stopped: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), seconds * 1000);
    stopped.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
