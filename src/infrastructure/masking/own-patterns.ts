import { createContext, Script } from 'node:vm';
import { RE2JS } from 're2js';
import { MaskingFailed } from '../../domain/record/errors.js';
import type { OwnMask } from '../../domain/record/recording.js';
import type { Find } from './find.js';

/** The most milliseconds of the processor that all own patterns of one call may take. */
const PROMISED_MS = 10;
/** A search that is ended takes some time more: Node.js interrupts it late, and counts whole milliseconds. */
const MARGIN_MS = 3;
const LIMIT_MS = PROMISED_MS - MARGIN_MS;
const COMPILE_LIMIT_MS = 100;
const MOST_COMPILED = 50;
/** The most instructions of a compiled pattern. They bound the time of its compilation. */
const MOST_INSTRUCTIONS = 1_000;
/** Patterns that take at most this many instructions times characters need no time limit: they take about 2 ms. */
const CHEAP = 100_000;
/** A busy machine may use up the time without running this code: then it is tried again. */
const MOST_TRIES = 4;

interface LabelledFind extends Find {
  readonly label: string;
}

/** Runs own patterns with RE2, an engine that takes linear time. */
export class OwnPatterns {
  /** The most recently used pattern is the last. */
  private readonly compiled = new Map<string, RE2JS | string>();

  /** Returns why a pattern cannot run, or null. */
  problem(pattern: string): string | null {
    const compiled = this.compile(pattern);
    return typeof compiled === 'string' ? compiled : null;
  }

  /** Returns the finds in each text. Throws MaskingFailed. */
  finds(texts: readonly string[], masks: readonly OwnMask[]): LabelledFind[][] {
    if (masks.length === 0) return texts.map(() => []);
    const patterns = masks.map(({ name, pattern }) => {
      const compiled = this.compile(pattern);
      if (typeof compiled === 'string') throw new MaskingFailed(`the pattern ${name} ${compiled}`);
      return { label: name, compiled };
    });
    const search = () => texts.map((text) => patterns.flatMap((pattern) => [...findsOf(text, pattern)]));
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const instructions = patterns.reduce((sum, { compiled }) => sum + compiled.programSize(), 0);
    if (length * instructions <= CHEAP) return search();
    const found = withinTime(search, LIMIT_MS);
    if (found === null) throw new MaskingFailed('the own patterns take too long');
    return found;
  }

  private compile(pattern: string): RE2JS | string {
    const compiled = this.compiled.get(pattern) ?? compiledOf(pattern);
    this.compiled.delete(pattern);
    this.compiled.set(pattern, compiled);
    const [oldest] = this.compiled.keys();
    if (this.compiled.size > MOST_COMPILED && oldest !== undefined) this.compiled.delete(oldest);
    return compiled;
  }
}

const TOO_LARGE = 'is too large: use smaller repeat counts';

/** The letters that mean something after a backslash. The translation drops the backslash before the others. */
const KNOWN_ESCAPES = new Set('aAbBdDEfnpPQrsStvwWz');
/** Each escape. The signs of a code are complete, or its letter stands alone. */
const ESCAPE = /\\(x\{[\da-f]+\}|x[\da-f]{2}|u\{[\da-f]+\}|u[\da-f]{4}|c[a-z]|[\s\S])/gi;

function compiledOf(pattern: string): RE2JS | string {
  const unknown = unknownEscape(pattern);
  if (unknown !== undefined) return `cannot run in linear time: \\${unknown} is unknown`;
  try {
    const compiled = withinTime(() => RE2JS.compile(RE2JS.translateRegExp(pattern)), COMPILE_LIMIT_MS);
    if (compiled === null || compiled.programSize() > MOST_INSTRUCTIONS) return TOO_LARGE;
    return compiled.matcher('').find() ? 'must not match an empty text' : compiled;
  } catch (error) {
    return `cannot run in linear time: ${(error as Error).message.slice(0, 200)}`;
  }
}

/** Returns the sign of an escape such as that of a back reference, `\\k`. Undefined: there is none. */
function unknownEscape(pattern: string): string | undefined {
  const escapes = [...pattern.matchAll(ESCAPE)].map(([, sign = '']) => sign);
  return escapes.find((sign) => /^[a-z89]$/i.test(sign) && !KNOWN_ESCAPES.has(sign));
}

function* findsOf(text: string, { label, compiled }: { label: string; compiled: RE2JS }): Generator<LabelledFind> {
  const matcher = compiled.matcher(text);
  while (matcher.find()) if (matcher.end() > matcher.start()) yield { label, from: matcher.start(), to: matcher.end() };
}

/** Node.js can interrupt only code that a script runs. */
const script = new Script('run()');
const context = createContext({});

/** Runs a function. Returns null if it takes more time of the processor. */
function withinTime<T>(run: () => T, limitMs: number): T | null {
  const before = processorMs();
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const left = limitMs - (processorMs() - before);
    if (left < 1) return null;
    Object.assign(context, { run });
    try {
      return script.runInContext(context, { timeout: Math.ceil(left) }) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    } finally {
      Object.assign(context, { run: null });
    }
  }
  return null;
}

/** Returns the time of this thread. Node.js 20 knows only that of the process. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
}
