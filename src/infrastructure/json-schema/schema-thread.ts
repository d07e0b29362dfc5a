/** The thread that compiles JSON schemas and validates texts. Gives a question up after `workerData` milliseconds. */
import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface SchemaQuestion {
  /** As JSON. */
  readonly schema: string;
  /** Is null to ask about the schema alone. */
  readonly text: string | null;
}

export interface SchemaVerdict {
  /** Says why the schema cannot be used, or is null. */
  readonly problem: string | null;
  /** Tells whether the text is JSON that validates. */
  readonly accepts: boolean;
}

const MOST_COMPILED = 100;
const LONGEST_PROBLEM = 300;

const OLDER_DRAFT = /draft-0[67]\/schema#?$/;

/** Unknown keywords are ignored, and so is `format`, as JSON Schema allows. No schema is fetched. */
const options = { strict: false, validateFormats: false, ownProperties: true, logger: false } as const;

/** `check` compares schemas with the schema of their draft, which takes long to compile. */
const newer = { Compiler: Ajv2020, check: new Ajv2020(options) };
const older = { Compiler: Ajv, check: new Ajv(options) };

type Compiled = ValidateFunction | string;
/** By the digest of the schema; the last used one is the last. */
const compiled = new Map<string, Compiled>();

function compile(schema: string): Compiled {
  const key = createHash('sha256').update(schema).digest('base64');
  const result = compiled.get(key) ?? validatorOf(JSON.parse(schema));
  compiled.delete(key);
  compiled.set(key, result);
  const [oldest] = compiled.keys();
  if (compiled.size > MOST_COMPILED && oldest !== undefined) compiled.delete(oldest);
  return result;
}

/** Each schema has a compiler of its own: their ids may be the same. Returns a text if the schema cannot be used. */
function validatorOf({ $schema, ...schema }: { $schema?: unknown }): Compiled {
  const { Compiler, check } = OLDER_DRAFT.test(String($schema)) ? older : newer;
  if (!check.validateSchema(schema)) return shown(check.errorsText(check.errors, { dataVar: 'it' }));
  try {
    return new Compiler({ ...options, validateSchema: false }).compile(schema);
  } catch (error) {
    return shown((error as Error).message);
  }
}

const shown = (problem: string): string => problem.slice(0, LONGEST_PROBLEM);

function isAccepted(validate: ValidateFunction, text: string): boolean {
  try {
    return validate(JSON.parse(text)) as boolean;
  } catch {
    return false;
  }
}

function verdict({ schema, text }: SchemaQuestion): SchemaVerdict {
  const validate = compile(schema);
  if (typeof validate === 'string') return { problem: validate, accepts: false };
  return { problem: null, accepts: text !== null && isAccepted(validate, text) };
}

/** Only code that a script runs can be interrupted. */
const script = new Script('answer()');

/** Returns null if it takes too long. */
function timely(question: SchemaQuestion): SchemaVerdict | null {
  Object.assign(globalThis, { answer: () => verdict(question) });
  try {
    return script.runInThisContext({ timeout: workerData }) as SchemaVerdict;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}

// Compiles the schemas of the drafts, which takes too long for a question.
for (const { check } of [newer, older]) void check.validateSchema({});
parentPort?.on('message', (question: SchemaQuestion) => parentPort?.postMessage(timely(question)));
parentPort?.postMessage('ready');
