import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TemporaryFolder } from './support/temporary-folder.js';

const repository = join(__dirname, '..');

/** Lists the rule that the check must name, the file, and the text that the test adds to the file. */
const FAULTS = [
  ['domain-is-pure', 'src/domain/alerts/planted.ts', "import { createHash } from 'node:crypto';"],
  ['application-looks-inwards', 'src/application/alerts/one.ts', "import '../../infrastructure/system/adapters.js';"],
  ['application-looks-inwards', 'src/application/alerts/two.ts', "import type { EventEmitter } from 'node:events';"],
  ['interfaces-call-use-cases', 'src/interfaces/one.ts', "import '../infrastructure/system/adapters.js';"],
  ['infrastructure-stays-behind-ports', 'src/infrastructure/one.ts', "import '../bootstrap/config/config.js';"],
  ['typeorm-confined', 'src/interfaces/two.ts', "import type { EntityManager } from 'typeorm';"],
  ['no-cycles', 'src/domain/alerts/first.ts', "import './second.js';"],
  ['no-cycles', 'src/interfaces/web/console/shared/first.tsx', "import { second } from './second.js';"],
  ['no-unresolvable', 'src/interfaces/three.ts', "import './gone.js';"],
  ['console-alone', 'src/interfaces/web/console/one.tsx', "import '../pages.js';"],
  ['console-alone', 'src/interfaces/web/console/two.ts', "import { z } from 'zod';"],
  ['known-place', 'src/domain/alerts/someRules.ts', ''],
  ['short-files', 'src/domain/alerts/long.ts', '// line\n'.repeat(301)],
  ['clock-confined', 'src/domain/alerts/clock.ts', 'export const now = new Date();'],
  ['env-confined', 'src/interfaces/env.ts', 'export const port = process.env.PORT;'],
  ['console-confined', 'src/interfaces/say.ts', "console.log('said');"],
  ['adapter-under-contract', 'src/infrastructure/direct.ts', 'export class Direct implements Clock {}'],
  ['adapter-under-contract', 'src/infrastructure/derived.ts', 'export class Derived extends SystemClock {}'],
] as const;

describe('tools/check-architecture.cjs', () => {
  const copy = new TemporaryFolder();
  afterAll(() => copy.remove());

  const check = (root: string) => {
    const { stdout, status } = spawnSync(process.execPath, [join(repository, 'tools/check-architecture.cjs'), root]);
    return { lines: stdout.toString().trim().split('\n'), status };
  };

  it('finds each fault that the test adds to a copy, and no other', () => {
    for (const folder of ['src', 'tests'])
      cpSync(join(repository, folder), join(copy.path, folder), { recursive: true });
    symlinkSync(join(repository, 'node_modules'), join(copy.path, 'node_modules'));
    for (const folder of ['domain/alerts', 'interfaces/web/console/shared'])
      writeFileSync(join(copy.path, 'src', folder, 'second.ts'), "import './first.js';\n");
    for (const [, file, text] of FAULTS) {
      mkdirSync(dirname(join(copy.path, file)), { recursive: true });
      appendFileSync(join(copy.path, file), `${text}\n`);
    }
    const { lines, status } = check(copy.path);
    const found = lines.slice(0, -1).map((line) =>
      line
        .split(/ {2}|:/)
        .slice(0, 2)
        .join(' '),
    );
    expect(new Set(found)).toEqual(new Set(FAULTS.map(([rule, file]) => `${rule} ${file}`)));
    expect(status).toBe(1);
  });

  it('fails if there are no files, or if dependency-cruiser does not see a file', () => {
    rmSync(join(copy.path, 'src'), { recursive: true });
    expect(check(copy.path).status).toBe(1);
    mkdirSync(join(copy.path, 'src/domain'), { recursive: true });
    writeFileSync(join(copy.path, 'src/domain/a.rs'), '');
    expect(check(copy.path).lines[0]).toMatch('not-seen  src/domain/a.rs');
  });
});
