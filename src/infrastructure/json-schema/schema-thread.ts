/** The thread that compiles JSON schemas and validates texts. Stops a question after `workerData` milliseconds. */
import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ajvCode } from './pattern.js';

export interface SchemaQuestion {
  /** The schema as JSON. */
  readonly schema: string;
  /** The value to check. It is null if the question is only about the schema. */
  readonly text: string | null;
}

export interface SchemaVerdict {
  /** The reason why the schema cannot be used, or null. */
  readonly problem: string | null;
  /** True if the text is JSON that is valid by the schema. Null if the check was given up. */
  readonly accepts: boolean | null;
}

const MOST_COMPILED = 100;
const LONGEST_PROBLEM = 300;

const OLDER_DRAFT = /draft-0[67]\/schema#?$/;

/** Unknown keywords and `format` are ignored, as JSON Schema allows. No schema is fetched. */
const options = { strict: false, validateFormats: false, ownProperties: true, logger: false, code: ajvCode } as const;

/** `check` validates schemas by the schema of their draft. It is kept, because that schema takes long to compile. */
const newer = { Compiler: Ajv2020, check: new Ajv2020(options) };
const older = { Compiler: Ajv, check: new Ajv(options) };

type Compiled = ValidateFunction | string;
/** The validators by the digest of their schema. The most recently used validator is the last. */
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

/** Compiles a schema, or returns its problem. Each schema has its own compiler, because schemas may have equal ids. */
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

/** Node.js can interrupt only code that a script runs. */
const script = new Script('answer()');

/** Answers a question. Returns null if that takes too long. */
function timely(question: SchemaQuestion): SchemaVerdict | null {
  Object.assign(globalThis, { answer: () => verdict(question) });
  try {
    return script.runInThisContext({ timeout: workerData }) as SchemaVerdict;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}

// Compiles the schemas of the drafts now, because a question has too little time for it.
for (const { check } of [newer, older]) void check.validateSchema({});
parentPort?.on('message', (question: SchemaQuestion) => parentPort?.postMessage(timely(question)));
parentPort?.postMessage('ready');
