import { turn } from '../../application/shared/turn.js';
import { PatientSharing } from './patient-sharing.js';

/** Statements of lookups that are under way at once; more would each answer fewer questions. */
const AT_ONCE = 2;
const MOST_QUESTIONS = 100;

const sharing = new PatientSharing();

/** What answers the questions of a kind. */
interface Lookup {
  readonly name: string;
  /** Takes an array of keys as its only value, and gives a `row` as JSON for each `key` that it finds one for. */
  readonly text: string;
}

interface Question {
  readonly lookup: Lookup;
  readonly key: string;
  readonly resolve: (row: never) => void;
  readonly reject: (error: unknown) => void;
}

/** What the `kind`th of the lookups that were asked together knows of a key. */
interface Found {
  readonly kind: number;
  readonly key: string;
  readonly row: object;
}

interface Database {
  readonly isRunning: boolean;
  prepared<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
}

/**
 * Lookups that nearly every call needs. Questions that come within a turn of the event loop, or while the database is
 * busy with earlier ones, go to it together, in one statement, whatever they ask for, so that many callers cost it
 * little more than one; callers of the same key are given the same object. A question is only ever answered by a
 * statement that began after it was asked: no answer is older than its question. What is found comes as JSON, so a
 * moment in it is a text, and a great integer none.
 */
export class SharedLookups {
  private waiting: Question[] = [];
  private underWay = 0;
  private soon = false;
  private readonly texts = new Map<string, string>();

  constructor(private readonly database: Database) {}

  ask<Row>(lookup: Lookup, key: string): Promise<Readonly<Row> | null> {
    const asked = (resolve: (row: Row | null) => void, reject: (error: unknown) => void): Question => ({
      lookup,
      key,
      resolve,
      reject,
    });
    if (this.database.isRunning)
      return new Promise((resolve, reject) => this.answer([asked(resolve, reject)]).catch(reject));
    return sharing.forOne((resolve, reject) => this.add(asked(resolve, reject)));
  }

  private add(question: Question): void {
    this.waiting.push(question);
    if (!this.soon) sharing.forMany(() => void turn().then(() => this.proceed()));
    this.soon = true;
  }

  private async proceed(): Promise<void> {
    this.soon = false;
    if (this.underWay >= AT_ONCE || this.waiting.length === 0) return;
    const questions = this.waiting.splice(0, MOST_QUESTIONS);
    this.underWay++;
    try {
      await this.answer(questions);
    } catch (error) {
      // What has waited behind it fails with it: where the database hangs, nobody waits for two time-outs.
      for (const { reject } of [...questions, ...this.waiting.splice(0)]) reject(error);
    }
    this.underWay--;
    void this.proceed();
  }

  private async answer(questions: readonly Question[]): Promise<void> {
    const asked = new Map<Lookup, Map<string, Question[]>>();
    for (const question of questions) {
      const keys = entry(asked, question.lookup, () => new Map<string, Question[]>());
      entry(keys, question.key, () => []).push(question);
    }
    // In one order, whoever asked first, so that there are few statements to prepare.
    const kinds = [...asked].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
    const lookups = kinds.map(([lookup]) => lookup);
    const values = kinds.map(([, keys]) => [...keys.keys()]);
    const name = lookups.map((lookup) => lookup.name).join(', ');
    const found = await this.database.prepared<Found>(name, this.text(name, lookups), values);
    for (const { kind, key, row } of found)
      for (const { resolve } of kinds[kind]?.[1].get(key) ?? []) resolve(row as never);
    for (const { resolve } of questions) resolve(null as never); // nothing is told to whoever has an answer
  }

  private text(name: string, lookups: readonly Lookup[]): string {
    if (name.length > LONGEST_NAME) throw new Error(`too long a name for a statement: ${name}`);
    const text = this.texts.get(name) ?? together(lookups);
    this.texts.set(name, text);
    return text;
  }
}

/** What a map has for a key, or has from now on. */
function entry<K, V>(map: Map<K, V>, key: K, first: () => V): V {
  const value = map.get(key) ?? first();
  map.set(key, value);
  return value;
}

/** PostgreSQL takes no more of a name, and one that ends later for the same. */
const LONGEST_NAME = 63;

const together = (lookups: readonly Lookup[]): string =>
  lookups
    .map(({ text }, kind) => {
      const own = text.replaceAll('$1', `$${kind + 1}`);
      return `SELECT ${kind} AS kind, key, row FROM (${own}) AS found`;
    })
    .join(' UNION ALL ');
