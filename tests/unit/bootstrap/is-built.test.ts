import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '../../..');

describe('npm start', () => {
  let clone: string;
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'tenon-clone-'));
    for (const name of ['bin/bundle.cjs', 'tools/is-built.cjs']) cpSync(join(root, name), join(clone, name));
    for (const name of ['src/domain/a.ts', 'package.json', 'package-lock.json', 'dist/bundle.js']) {
      mkdirSync(dirname(join(clone, name)), { recursive: true });
      writeFileSync(join(clone, name), '{}');
    }
    at(2, ...BUILT_FROM);
    at(3, 'dist/bundle.js');
  });
  afterEach(() => rmSync(clone, { recursive: true }));

  const BUILT_FROM = ['bin', 'tools', 'tools/is-built.cjs', 'src', 'src/domain', 'src/domain/a.ts', 'package.json'];
  BUILT_FROM.push('package-lock.json');
  const at = (seconds: number, ...names: string[]) => {
    for (const name of names) utimesSync(join(clone, name), seconds, seconds);
  };
  const isBuilt = () => spawnSync(process.execPath, [join(clone, 'tools/is-built.cjs')]).status === 0;

  it('builds nothing that is built already', () => {
    expect(isBuilt()).toBe(true);
  });

  it.each(['src/domain/a.ts', 'src/domain', 'tools/is-built.cjs', 'package-lock.json'])(
    'builds where %s has changed since',
    (name) => {
      at(4, name);
      expect(isBuilt()).toBe(false);
    },
  );

  it('builds what never was', () => {
    rmSync(join(clone, 'dist/bundle.js'));
    expect(isBuilt()).toBe(false);
  });
});
