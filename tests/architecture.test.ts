import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const REPOSITORY = path.join(__dirname, '..');
const TOOL = path.join(REPOSITORY, 'tools/check-architecture.cjs');

type Tree = Readonly<Record<string, string>>;

/** A tree without a fault, which goes up to the edge of what each rule allows. */
const CLEAN: Tree = {
  'src/main.ts': "import { boot } from './bootstrap/boot.js';\n\nboot().catch(console.error);\n",
  'src/bootstrap/config.ts': "import { z } from 'zod';\n\nexport const url = z.string().parse(process.env.URL);\n",
  'src/bootstrap/boot.ts': `
import 'reflect-metadata';
import { Container } from 'inversify';
import { Notes } from '../application/notes/ports/notes.js';
import { TypeOrmNotes } from '../infrastructure/typeorm/typeorm-notes.js';
import { routes } from '../interfaces/http/routes.js';
import { url } from './config.js';
export const boot = async () => [new Container().bind(Notes), TypeOrmNotes, routes, url];
`,
  'src/domain/notes/note.ts': `
/* Not new Date(), nor Math.random(); "quoted */
export type Note = { readonly at: Date };
export const parse = (at: string): Note => ({ at: new Date(at) }); // console.log(Date.now())
export const fixed = new Date('2025-01-01');
export const advice = \`process.env is \${'console.log'} read by \${[{ a: "it's" }].length}\`;
export const quote = (text: string) => text.replace(/['"\`]/g, 'Date.now()');
`,
  'src/application/shared/port.ts':
    'export const port = <T>(name: string) => Symbol(name) as symbol & { contract?: T };\n',
  'src/application/notes/ports/notes.ts': `
import type { Note } from '../../../domain/notes/note.js';
export interface Notes {
  all(): Promise<Note[]>;
}
export const Notes = port<Notes>('notes.Notes');
`,
  'src/infrastructure/typeorm/typeorm-notes.ts': `
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Notes, Notes as NotesPort } from '../../application/notes/ports/notes.js';
export class TypeOrmNotes implements Notes {
  constructor(readonly source: DataSource | Pool) {}
  all = async () => [];
}
`,
  'src/infrastructure/typeorm/queue/tasks.ts': "export { runTaskListOnce } from 'graphile-worker';\n",
  'src/infrastructure/memory/memory-notes.ts': `
class Kept<T> {
  constructor(readonly items: T[]) {}
}
export class MemoryNotes
  extends Kept<string>
  implements Iterable<string>, NotesPort
{
  [Symbol.iterator] = () => this.items.values();
  all = async () => [];
}
`,
  'src/infrastructure/embedded-postgres/server.ts':
    "export { Client } from 'pg';\nexport const { PATH } = process.env;\n",
  'src/infrastructure/system/system-clock.ts': `
import { randomUUID } from 'node:crypto';
export const now = () => [new Date(), Date.now(), performance.now(), Math.random(), randomUUID()];
`,
  'src/infrastructure/onnx/run.ts': `
export { Tokenizer } from '@huggingface/tokenizers';
export { InferenceSession } from 'onnxruntime-node';
export const environment = { PATH: process.env.PATH };
`,
  'src/infrastructure/chat-engine/worker/main.ts': 'export const started = Date.now();\n',
  'src/infrastructure/process/spawn.ts': 'export const environment = { PATH: process.env.PATH };',
  'src/infrastructure/smtp/smtp-mailer.ts': "export { createTransport } from 'nodemailer';\n",
  'src/infrastructure/logging/json-log.ts': "export { createLogger } from 'winston';\nconsole.info('ready');\n",
  'src/infrastructure/crypto/password-hashes.ts': "export { hash } from 'bcrypt';\n",
  'src/interfaces/http/routes.ts':
    "import express from 'express';\nimport { z } from 'zod';\n\nexport const routes = [express, z];\n",
  'tests/contracts/notes/notes.contract.ts': 'export const notesContract = (open: () => object) => open;\n',
  'tests/contracts/notes.test.ts': `
import { TypeOrmNotes } from '../../src/infrastructure/typeorm/typeorm-notes.js';
import { notes } from '../support/adapters.js';
import { notesContract } from './notes/notes.contract.js';
notesContract(() => new TypeOrmNotes(notes));
`,
  'tests/support/adapters.ts': `
import { MemoryNotes } from '../../src/infrastructure/memory/memory-notes.js';
export const notes = new MemoryNotes([]);
`,
};

const _without = (...files: string[]): Tree =>
  Object.fromEntries(Object.entries(CLEAN).filter(([file]) => !files.includes(file)));

/** A planted fault: what the check must say first on its line, and the files that differ from the clean tree. */
type Fault = readonly [finding: string, changes: Tree, base?: Tree];

const DOMAIN = 'src/domain/notes/rules.ts';
const HTTP = 'src/interfaces/http/notes.ts';
const _SUITE = 'tests/contracts/notes/notes.contract.ts';
const inDomain = (code: string): Tree => ({ [DOMAIN]: code });
const inHttp = (code: string): Tree => ({ [HTTP]: code });

const IMPORTS: readonly Fault[] = [
  [`domain-is-pure  ${DOMAIN}:2`, inDomain("\nimport type { Notes } from '../../application/notes/ports/notes.js';")],
  [`domain-is-pure  ${DOMAIN}:1`, inDomain("import { createHash } from 'node:crypto';")],
  [`domain-is-pure  ${DOMAIN}:1`, inDomain("import type { Middleware } from 'supertest';")],
  [
    'application-looks-inwards  src/application/notes/add.ts:1',
    { 'src/application/notes/add.ts': "import { MemoryNotes } from '../../infrastructure/memory/memory-notes.js';" },
  ],
  [
    'application-looks-inwards  src/application/notes/add.ts:1',
    { 'src/application/notes/add.ts': "import type { EventEmitter } from 'node:events';" },
  ],
  [
    'infrastructure-stays-behind-ports  src/infrastructure/memory/kept.ts:1',
    { 'src/infrastructure/memory/kept.ts': "export type { routes } from '../../interfaces/http/routes.js';" },
  ],
  [
    'infrastructure-stays-behind-ports  src/infrastructure/memory/kept.ts:1',
    { 'src/infrastructure/memory/kept.ts': "import { url } from '../../bootstrap/config.js';" },
  ],
  [`interfaces-call-use-cases  ${HTTP}:1`, inHttp("import '../../infrastructure/system/system-clock.js';")],
  [`interfaces-call-use-cases  ${HTTP}:1`, inHttp("export const url = import('../../bootstrap/config.js');")],
  ['main-only-boots  src/main.ts:1', { 'src/main.ts': "import { parse } from './domain/notes/note.js';" }],
  ['main-only-boots  src/cli.ts:1', { 'src/cli.ts': "import { parse } from './domain/notes/note.js';" }],
  [`src-ships-alone  ${HTTP}:1`, inHttp("import { notes } from '../../../tests/support/adapters.js';")],
  [
    `src-ships-alone  ${HTTP}:1`,
    { [HTTP]: "import { demo } from '../../../tools/demo.js';", 'tools/demo.ts': 'export const demo = 1;' },
  ],
  [`typeorm-confined  ${HTTP}:1`, inHttp("import type { EntityManager } from 'typeorm';")],
  [
    'typeorm-confined  src/infrastructure/memory/pool.ts:1',
    { 'src/infrastructure/memory/pool.ts': "import { Pool } from 'pg';" },
  ],
  [
    'queue-confined  src/infrastructure/typeorm/jobs.ts:1',
    { 'src/infrastructure/typeorm/jobs.ts': "import { run } from 'graphile-worker';" },
  ],
  [`typeorm-confined  ${HTTP}:1`, inHttp("import { to } from 'pg-copy-streams';")],
  ['express-confined  src/bootstrap/app.ts:1', { 'src/bootstrap/app.ts': "import express from 'express';" }],
  [
    'express-confined  src/infrastructure/smtp/hook.ts:1',
    { 'src/infrastructure/smtp/hook.ts': "import type { Request } from 'express';" },
  ],
  [`container-confined  ${HTTP}:1`, inHttp("import 'reflect-metadata';")],
  [
    'onnx-confined  src/bootstrap/models.ts:1',
    { 'src/bootstrap/models.ts': "import { Tensor } from 'onnxruntime-node';" },
  ],
  [`onnx-confined  ${HTTP}:1`, inHttp("import { Template } from '@huggingface/jinja';")],
  [`serving-libraries-confined  ${HTTP}:1`, inHttp("import { parse } from 'lossless-json';")],
  [`prometheus-confined  ${HTTP}:1`, inHttp("import { Registry } from 'prom-client';")],
  [`undici-confined  ${HTTP}:1`, inHttp("import { Client } from 'undici';")],
  [`nodemailer-confined  ${HTTP}:1`, inHttp("import { createTransport } from 'nodemailer';")],
  [`standardwebhooks-confined  ${HTTP}:1`, inHttp("import { Webhook } from 'standardwebhooks';")],
  ['winston-confined  src/bootstrap/log.ts:1', { 'src/bootstrap/log.ts': "import type { Logger } from 'winston';" }],
  [`bcrypt-confined  ${HTTP}:1`, inHttp("const bcrypt = require('bcrypt');")],
  [
    'record-files-confined  src/infrastructure/files/records.ts:1',
    { 'src/infrastructure/files/records.ts': "import { parse } from 'csv-parse';" },
  ],
  [
    'zod-confined  src/infrastructure/smtp/schema.ts:1',
    { 'src/infrastructure/smtp/schema.ts': "import { z } from 'zod';" },
  ],
  [
    'no-cycles  src/domain/notes/one.ts:1',
    {
      'src/domain/notes/one.ts': "import type { Two } from './two.js';\nexport type One = Two[];",
      'src/domain/notes/two.ts': "import type { One } from './one.js';\nexport type Two = { one: One };",
    },
  ],
  [`no-unresolvable  ${HTTP}:1`, inHttp("import { gone } from './gone.js';")],
  [`imports-are-seen  ${DOMAIN}:1`, inDomain("export type Pools = Array<import('pg').Pool>;")],
];

const TEXT: readonly Fault[] = [
  [`clock-confined  ${DOMAIN}:2`, inDomain("const text = 'fine';\nexport const now = new Date();")],
  [`clock-confined  ${DOMAIN}:1`, inDomain('export const now = new Date;')],
  [`clock-confined  ${DOMAIN}:1`, inDomain('export const now = [0].map(Date.now);')],
  [`clock-confined  ${HTTP}:1`, inHttp(`export const now = \`at \${performance.now()}\`;`)],
  [
    'clock-confined  src/infrastructure/onnx/timer.ts:1',
    { 'src/infrastructure/onnx/timer.ts': 'export const now = new Date( );' },
  ],
  [
    'chance-confined  src/infrastructure/typeorm/ids.ts:1',
    { 'src/infrastructure/typeorm/ids.ts': "import { randomUUID } from 'node:crypto';" },
  ],
  [`chance-confined  ${DOMAIN}:1`, inDomain('export const roll = () => Math.random();')],
  [`chance-confined  ${HTTP}:1`, inHttp('export const id = () => crypto.randomUUID();')],
  [`env-confined  ${HTTP}:1`, inHttp('export const port = process.env.PORT;')],
  [`env-confined  ${HTTP}:1`, inHttp("export const port = process['env'].PORT;")],
  [`env-confined  ${HTTP}:1`, inHttp('export const { env } = process;')],
  [`env-confined  ${HTTP}:1`, inHttp("import { env } from 'node:process';")],
  [
    'env-confined  src/infrastructure/typeorm/url.ts:1',
    { 'src/infrastructure/typeorm/url.ts': 'export const url = process.env.DATABASE_URL;' },
  ],
  ['console-confined  src/bootstrap/banner.ts:1', { 'src/bootstrap/banner.ts': "console.log('ready'); // said once" }],
  [
    'env-confined  src/bootstrap/settings.ts:1',
    { 'src/bootstrap/settings.ts': 'export const { PORT } = process.env;' },
  ],
  ['console-confined  src/infrastructure/smtp/say.ts:1', { 'src/infrastructure/smtp/say.ts': 'console.warn(1);' }],
  ['known-layer  src/shared/clock.ts', { 'src/shared/clock.ts': 'export const a = 1;' }],
  ['no-index  src/domain/notes/index.ts', { 'src/domain/notes/index.ts': "export * from './note.js';" }],
  ['no-vague-names  src/domain/notes/utils.ts', { 'src/domain/notes/utils.ts': 'export const a = 1;' }],
  ['no-vague-names  src/domain/helpers/text.ts', { 'src/domain/helpers/text.ts': 'export const a = 1;' }],
  ['no-vague-names  src/domain/notes/note-manager.ts', { 'src/domain/notes/note-manager.ts': 'export const a = 1;' }],
  ['kebab-case  src/domain/notes/noteRules.ts', { 'src/domain/notes/noteRules.ts': 'export const a = 1;' }],
  ['kebab-case  src/domain/Notes/rules.ts', { 'src/domain/Notes/rules.ts': 'export const a = 1;' }],
  [`short-files  ${DOMAIN}`, inDomain('// line\n'.repeat(251))],
  ['short-files  tests/long.test.ts', { 'tests/long.test.ts': '// line\n'.repeat(401) }],
];

const FAULTS = [...IMPORTS, ...TEXT];

interface Outcome {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Runs the check over many trees in one process: jest itself can't load dependency-cruiser, an ES module. */
const RUN_ALL = `
const { run } = require(${JSON.stringify(TOOL)});
const layers = require(${JSON.stringify(path.join(REPOSITORY, '.dependency-cruiser.cjs'))});
(async () => {
  const outcomes = [];
  for (const { root, options } of JSON.parse(process.argv[1])) {
    outcomes.push(await run(root, { ...layers, options: { ...layers.options, ...options } }));
  }
  console.log(JSON.stringify(outcomes));
})();
`;

describe('the architecture check', () => {
  const scratch = realpathSync(mkdtempSync(path.join(tmpdir(), 'tenon-architecture-')));
  let trees = 0;
  let outcomes: readonly Outcome[];
  let clean: Outcome;
  let unread: Outcome;
  let overlooking: Outcome;

  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  function plant(tree: Tree): string {
    const root = path.join(scratch, `${++trees}`);
    mkdirSync(path.join(root, 'src'), { recursive: true });
    symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
    for (const [file, text] of Object.entries(tree)) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
    return root;
  }

  async function command(...roots: string[]): Promise<Outcome> {
    const node = promisify(execFile);
    const { stdout, code } = await node(process.execPath, [TOOL, ...roots]).then(
      (done) => ({ ...done, code: 0 }),
      (failed: { stdout: string; code: number }) => failed,
    );
    return { lines: stdout.trim().split('\n'), exitCode: code };
  }

  beforeAll(async () => {
    const jobs = [
      { root: plant(CLEAN) },
      { root: plant(CLEAN), options: { exclude: { path: '^src/' } } },
      { root: plant(CLEAN), options: { moduleSystems: ['cjs'] } },
      ...FAULTS.map(([, changes, base = CLEAN]) => ({ root: plant({ ...base, ...changes }) })),
    ];
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', RUN_ALL, JSON.stringify(jobs)]);
    [clean, unread, overlooking, ...outcomes] = JSON.parse(stdout) as [Outcome, Outcome, Outcome, ...Outcome[]];
  });

  it('finds nothing wrong with a tree that keeps every rule', () => {
    const modules = Object.keys(CLEAN).filter((file) => file.startsWith('src/')).length;
    expect(clean).toEqual({ lines: [`layers: ${modules} modules, 0 violations`], exitCode: 0 });
  });

  it.each(FAULTS.map(([finding], index) => [finding, index] as const))(
    'finds the one planted fault: %s',
    (finding, index) => {
      const { lines, exitCode } = outcomes[index] as Outcome;
      expect(lines).toEqual([
        expect.stringMatching(new RegExp(`^${finding.replaceAll('.', '\\.')}  .+`)),
        expect.stringMatching(/^layers: \d+ modules, 1 violations$/),
      ]);
      expect(exitCode).toBe(1);
    },
  );

  it('names every rule of dependency-cruiser in a planted fault', () => {
    const { forbidden } = require('../.dependency-cruiser.cjs') as { forbidden: { name: string }[] };
    const planted = new Set(FAULTS.map(([finding]) => finding.split(' ')[0]));
    expect(forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
  });

  it('exits with 1 on the command line, too', async () => {
    const { lines, exitCode } = await command(plant({ ...CLEAN, [DOMAIN]: 'export const now = Date.now();' }));
    expect(lines[0]).toContain(`clock-confined  ${DOMAIN}:1  `);
    expect(exitCode).toBe(1);
  });

  it('fails where there is nothing to see', async () => {
    const { lines, exitCode } = await command(plant({}));
    expect(lines[0]).toContain('src-is-seen  src  ');
    expect(exitCode).toBe(1);
  });

  it('fails where dependency-cruiser reads no file', () => {
    expect(unread.lines).toContainEqual(expect.stringContaining('src-is-seen  src/main.ts  '));
    expect(unread.lines.at(-1)).toContain('layers: 0 modules');
    expect(unread.exitCode).toBe(1);
  });

  it('fails where dependency-cruiser reads the files but overlooks imports', () => {
    expect(overlooking.lines).toContainEqual(
      expect.stringContaining('imports-are-seen  src/application/notes/ports/notes.ts:2  '),
    );
    expect(overlooking.exitCode).toBe(1);
  });
});
