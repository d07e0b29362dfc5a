/** Manages grammars. Each has its own thread, so a schema that is slow or crashes XGrammar harms no other call. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Report } from '../../protocol.js';
import type { AnswerForm } from './answer-grammar.js';
import type { GrammarReport, GrammarSource, SequenceOrder, Tokens } from './grammar-thread.js';
import { type MaskMemory, maskMemory, writeFailure } from './mask.js';

/** The most grammars, in use or not. Calls with further grammars wait. */
const MAX_GRAMMARS = 8;
/** The most grammars in use for one caller, so that a caller with slow grammars leaves places to others. */
const MAX_OF_CALLER = 4;
/** The most grammars that are compiled at once, all for different callers. Each compilation uses a core. */
const MAX_COMPILING = 2;
const COMPILE_MS = 10_000;
/** The JavaScript memory of a thread. */
const THREAD_MB = 512;

/** The keywords that make grammars large. */
const COSTLY = [
  'pattern',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'enum',
  'anyOf',
  'oneOf',
  'allOf',
  'properties',
];

type GrammarRefusal = Extract<Report, { type: 'refused' }>;

interface Waiting {
  readonly caller: string;
  /** The digest of the form. */
  readonly key: string;
  readonly form: AnswerForm;
  readonly done: (refusal?: GrammarRefusal) => void;
}

interface Grammar {
  /** The first caller with this grammar. */
  readonly caller: string;
  readonly thread: Worker;
  readonly timer: NodeJS.Timeout;
  readonly path: string;
  /** The callbacks of the calls that use the grammar. */
  readonly calls: Map<number, (refusal?: GrammarRefusal) => void>;
  readonly memories: Map<number, MaskMemory>;
  compiled: boolean;
}

export class Grammars {
  /** Grammars by the digest of the form. The most recently used grammar is the last. */
  private readonly grammars = new Map<string, Grammar>();
  private readonly ofCalls = new Map<number, string>();
  /** Calls that wait for a place for their grammar, in the order of their turns. */
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly tokens: Tokens) {}

  /** Prepares the grammar of a call. Then calls `done`, with a refusal after a failure, but never after `release`. */
  prepare(call: number, caller: string, form: AnswerForm, done: Waiting['done']): void {
    // The order of properties matters, so the text is not canonical.
    const key = createHash('sha256').update(JSON.stringify(form)).digest('base64');
    this.waiting.set(call, { caller, key, form, done });
    this.advance();
  }

  /** Gives grammars to waiting calls. */
  private advance(): void {
    for (const [call, waiting] of [...this.waiting]) if (this.place(call, waiting)) this.waiting.delete(call);
  }

  /** Gives a call its grammar. Returns false if the call has to wait. */
  private place(call: number, { caller, key, form, done }: Waiting): boolean {
    const grammar = this.grammars.get(key) ?? this.start(key, caller, form);
    if (!grammar) return false;
    this.grammars.delete(key);
    this.grammars.set(key, grammar);
    this.ofCalls.set(call, key);
    grammar.calls.set(call, done);
    if (grammar.compiled) done();
    return true;
  }

  /**
   * Starts the masks of a call, and returns the order for the decoder. Returns undefined for a call without a grammar,
   * and null if the thread of its grammar has ended.
   */
  open(call: number): SequenceOrder | null | undefined {
    const key = this.ofCalls.get(call);
    if (key === undefined) return undefined;
    const grammar = this.grammars.get(key);
    if (!grammar?.compiled) return null;
    const { port1, port2 } = new MessageChannel();
    const memory = maskMemory(this.tokens.pieces.length);
    grammar.memories.set(call, memory);
    grammar.thread.postMessage({ path: grammar.path, memory, port: port1 } satisfies SequenceOrder, [port1]);
    return { path: grammar.path, memory, port: port2 };
  }

  /**
   * Ends a call's use of its grammar. An unused grammar is kept only if it is compiled and the call has completed.
   * After any other end of the call, the grammar's thread may still compute a slow mask.
   */
  release(call: number, completed: boolean): void {
    this.waiting.delete(call);
    const key = this.ofCalls.get(call);
    if (key === undefined) return;
    this.ofCalls.delete(call);
    const grammar = this.grammars.get(key);
    grammar?.calls.delete(call);
    grammar?.memories.delete(call);
    if (grammar?.calls.size === 0 && !(grammar.compiled && completed)) this.remove(key);
    this.advance();
  }

  /** Starts the thread of a grammar. Returns null if there is no place for the grammar now. */
  private start(key: string, caller: string, form: AnswerForm): Grammar | null {
    const { path } = form;
    const compiling = [...this.grammars.values()].filter(({ compiled }) => !compiled);
    if (compiling.length >= MAX_COMPILING || compiling.some((other) => other.caller === caller)) return null;
    const own = [...this.grammars.values()].filter((other) => other.caller === caller && other.calls.size > 0);
    if (own.length >= MAX_OF_CALLER) return null;
    if (this.grammars.size >= MAX_GRAMMARS) {
      const idle = [...this.grammars].find(([, { calls }]) => calls.size === 0);
      if (!idle) return null;
      this.remove(idle[0]);
    }
    const workerData: GrammarSource = { ...this.tokens, form };
    const thread = new Worker(join(__dirname, 'grammar-thread.js'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
      // XGrammar prints parts of schemas, which are private. So its output is discarded.
      stdout: true,
      stderr: true,
    });
    thread.stdout.resume();
    thread.stderr.resume();
    const refuse = (message: string, at = path) => this.fail(key, grammar, message, at);
    const text = JSON.stringify(form);
    const costly = COSTLY.filter((keyword) => text.includes(`"${keyword}":`));
    const tooComplex = `could not be compiled: make it smaller, above all its ${costly.join(', ') || 'type'}`;
    const timer = setTimeout(() => refuse(`${tooComplex} (after ${COMPILE_MS / 1_000} s)`), COMPILE_MS);
    const grammar: Grammar = {
      caller,
      thread,
      timer,
      path,
      calls: new Map(),
      memories: new Map(),
      compiled: false,
    };
    thread.on('message', (report: GrammarReport) => {
      if (report.type === 'refused') refuse(report.message, report.path);
      else if (this.grammars.get(key) === grammar) {
        clearTimeout(timer);
        grammar.compiled = true;
        for (const done of grammar.calls.values()) done();
        this.advance();
      }
    });
    for (const end of ['error', 'exit']) thread.on(end, () => refuse(tooComplex));
    this.grammars.set(key, grammar);
    // Moves the caller's other calls behind the calls of other callers.
    for (const [call, other] of [...this.waiting]) {
      if (other.caller !== caller) continue;
      this.waiting.delete(call);
      this.waiting.set(call, other);
    }
    return grammar;
  }

  /** Removes a grammar. Refuses the calls that wait for it, and ends the calls that are generated with it. */
  private fail(key: string, grammar: Grammar, message: string, path: string): void {
    if (this.grammars.get(key) !== grammar) return;
    this.remove(key);
    for (const memory of grammar.memories.values()) writeFailure(memory);
    if (!grammar.compiled) for (const [call, done] of grammar.calls) done({ type: 'refused', call, path, message });
    this.advance();
  }

  private remove(key: string): void {
    const grammar = this.grammars.get(key);
    this.grammars.delete(key);
    clearTimeout(grammar?.timer);
    void grammar?.thread.terminate();
  }
}
