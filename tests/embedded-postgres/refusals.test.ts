import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { unprivilegedAccount } from '../../src/infrastructure/embedded-postgres/account.js';
import { completeLinks, packagedBinaries } from '../../src/infrastructure/embedded-postgres/binaries.js';
import { embeddedPostgresUrl } from '../../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { cleanUp, newFolder, start, testAsRoot } from './support.js';

afterAll(cleanUp);

test.each([
  ['win32', 'x64'],
  ['linux', 'riscv64'],
])('a platform without binaries (%s-%s) is told to bring a server', (platform, arch) => {
  expect(() => packagedBinaries(platform, arch)).toThrow(new RegExp(`${platform}-${arch}.*DATABASE_URL`));
});

test('files of another major version are left alone', async () => {
  const folder = newFolder();
  fs.mkdirSync(path.join(folder, 'data'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'data', 'PG_VERSION'), '9\n');
  await expect(start(folder)).rejects.toThrow(/made by PostgreSQL 9 and this is PostgreSQL \d+: .*DATABASE_URL/);
  expect(fs.readdirSync(path.join(folder, 'data'))).toEqual(['PG_VERSION']);
});

test('the URL of a folder where nothing was ever started', () => {
  expect(() => embeddedPostgresUrl(newFolder())).toThrow(/start the service .*DATABASE_URL/);
});

test('root becomes postgres or else nobody', () => {
  const passwd = 'root:x:0:0::/:/bin/sh\nnobody:*:-2:-2::/:/bin/false\n';
  expect(unprivilegedAccount(passwd)).toEqual({ uid: 0xfffffffe, gid: 0xfffffffe, drop: true });
  expect(unprivilegedAccount(`${passwd}postgres:x:101:104::/:/bin/sh`)).toMatchObject({ uid: 101, gid: 104 });
  expect(() => unprivilegedAccount('root:x:0:0::/:/bin/sh')).toThrow('DATABASE_URL');
});

test('links between libraries are completed, also where some are there', () => {
  const native = path.join(newFolder(), 'native');
  fs.mkdirSync(path.join(native, 'lib'), { recursive: true });
  fs.writeFileSync(path.join(native, 'lib', 'a.so.1.2'), 'a');
  const links = ['a.so.1', 'a.so'].map((name) => ({ source: 'native/lib/a.so.1.2', target: `native/lib/${name}` }));
  fs.writeFileSync(path.join(native, 'pg-symlinks.json'), JSON.stringify(links));
  fs.symlinkSync('a.so.1.2', path.join(native, 'lib', 'a.so'));
  completeLinks(native);
  completeLinks(native);
  expect(links.map(({ target }) => fs.readFileSync(path.join(native, '..', target), 'utf8'))).toEqual(['a', 'a']);
});

testAsRoot('a folder that root’s first start made is refused to an ordinary user', () => {
  const folder = newFolder();
  fs.mkdirSync(folder);
  fs.chmodSync(path.dirname(folder), 0o755);
  // The clone may lie in a folder that is closed to others, and its files too.
  const code = path.join(path.dirname(folder), 'code');
  fs.cpSync(path.resolve(__dirname, '../../dist/src/infrastructure/embedded-postgres'), code, { recursive: true });
  execFileSync('chown', ['-R', '65534:65534', code]);
  const claim = `try { require(process.argv[1]).claimFolder(process.argv[2]) } catch (e) { console.log(e.message) }`;
  const said = execFileSync(process.execPath, ['-e', claim, path.join(code, 'account.js'), folder], {
    ...{ uid: 65534, gid: 65534, cwd: '/', encoding: 'utf8' as const },
  });
  expect(said).toMatch(/belongs to root, this process runs as user 65534: .*DATABASE_URL/);
});
