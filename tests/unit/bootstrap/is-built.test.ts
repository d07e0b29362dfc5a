import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('tools/is-built.cjs', () => {
  const clone = new TemporaryFolder();
  const sources = ['tools/is-built.cjs', 'tools', 'src/domain/a.ts', 'src/domain', 'src', 'package.json'];
  const setTime = (seconds: number, name: string) => utimesSync(join(clone.path, name), seconds, seconds);
  const isBuilt = () => spawnSync(process.execPath, [join(clone.path, 'tools/is-built.cjs')]).status === 0;

  beforeEach(() => {
    for (const name of ['src/domain/a.ts', 'tools/is-built.cjs', 'package.json', 'dist/src/main.js']) {
      mkdirSync(dirname(join(clone.path, name)), { recursive: true });
      writeFileSync(join(clone.path, name), '');
    }
    cpSync(join(__dirname, '../../../tools/is-built.cjs'), join(clone.path, 'tools/is-built.cjs'));
    for (const name of sources) setTime(2, name);
    setTime(3, 'dist/src/main.js');
  });
  afterEach(() => clone.remove());

  it('exits with 0 if nothing has changed since the build', () => {
    expect(isBuilt()).toBe(true);
  });

  it.each(['src/domain/a.ts', 'src/domain', 'package.json'])(
    'exits with 1 if %s has changed since the build',
    (name) => {
      setTime(4, name);
      expect(isBuilt()).toBe(false);
    },
  );

  it('exits with 1 if there is no build', () => {
    rmSync(join(clone.path, 'dist'), { recursive: true });
    expect(isBuilt()).toBe(false);
  });
});
