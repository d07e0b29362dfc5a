/**
 * Runs the steps of the Dockerfile without Docker, from a clean clone of the committed files. A folder stands for the
 * file system of each stage. Then starts the service of the image, checks that it is ready, and stops it. Run it by
 * `npm run image:check`. It takes long, because it installs the packages twice, so `.ci/run` does not run it.
 */
const { execFileSync, spawn, spawnSync } = require('node:child_process');
const {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const work = mkdtempSync(path.join(tmpdir(), 'tenon-image-'));
chmodSync(work, 0o711); // PostgreSQL's own account must be able to enter
const fail = (message) => {
  throw new Error(message);
};

/** Returns the instructions, each as a word and the rest of its line. */
function instructions(text) {
  const lines = text.replace(/\\\n/g, ' ').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => {
      const [, word, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? fail(`not understood: ${line}`);
      return { word, rest };
    });
}

/** Makes the build context: a clean clone without the files of .dockerignore. */
function context() {
  const clone = path.join(work, 'clone');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', path.join(__dirname, '../..'), clone], {
    stdio: 'inherit',
  });
  const rules = readFileSync(path.join(clone, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  if (rules[0] !== '*' || rules.slice(1).some((rule) => !/^![\w./-]+$/.test(rule)))
    fail('.dockerignore is more than a list of exceptions');
  const to = path.join(work, 'context');
  for (const name of rules.slice(1).map((rule) => rule.slice(1)))
    cpSync(path.join(clone, name), path.join(to, name), { recursive: true });
  return { clone, folder: to };
}

/** Makes a folder with a `chown` that needs no root: it only fails if the file does not exist. */
function shims() {
  const folder = path.join(work, 'shims');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'chown'), '#!/bin/sh\nshift\nexec ls -d "$@" >/dev/null\n', { mode: 0o755 });
  return folder;
}

function build({ clone, folder: contextFolder }, PATH) {
  const stages = new Map();
  let stage = null;
  for (const { word, rest } of instructions(readFileSync(path.join(clone, 'Dockerfile'), 'utf8'))) {
    console.log(`${word} ${rest}`);
    const at = (to) => path.join(stage.root, to.startsWith('/') ? to : path.join(stage.workdir, to));
    if (word === 'FROM') {
      const [from, , name = `stage-${stages.size}`] = rest.split(/\s+/);
      const parent = stages.get(from);
      const root = path.join(work, 'stages', name);
      mkdirSync(root, { recursive: true });
      if (parent) cpSync(parent.root, root, { recursive: true, verbatimSymlinks: true });
      stage = { ...(parent ?? { workdir: '/', env: {}, user: 'root' }), root };
      stages.set(name, stage);
    } else if (word === 'WORKDIR') {
      stage.workdir = path.posix.resolve(stage.workdir, rest);
      mkdirSync(at('.'), { recursive: true });
    } else if (word === 'ENV') {
      stage.env = { ...stage.env, ...Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('='))) };
    } else if (word === 'COPY') {
      const words = rest.split(/\s+/);
      const from = /^--from=(.+)$/.exec(words[0])?.[1];
      if (from) words.shift();
      const source = from ? (stages.get(from) ?? fail(`no stage ${from}`)).root : contextFolder;
      const to = words.pop();
      for (const one of words) {
        const target = to.endsWith('/') ? path.join(at(to), path.basename(one)) : at(to);
        cpSync(path.join(source, one), target, { recursive: true, verbatimSymlinks: true });
      }
    } else if (word === 'RUN') {
      const command = rest.replace(/(^|\s)(\/[\w./-]+)/g, (_, before, absolute) => `${before}${at(absolute)}`);
      const env = { ...process.env, ...stage.env, PATH };
      const { status } = spawnSync('sh', ['-ec', command], {
        cwd: at('.'),
        env,
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      if (status !== 0) fail(`RUN ended with ${status}: ${command}`);
    } else if (word === 'USER') stage.user = rest;
    else if (word === 'CMD') stage.command = JSON.parse(rest);
    else if (word === 'HEALTHCHECK') stage.health = JSON.parse(rest.slice(rest.indexOf('CMD') + 3));
    else if (!['VOLUME', 'EXPOSE'].includes(word)) fail(`${word} is not understood`);
  }
  return stage;
}

function checkContents({ root, workdir, user }) {
  if (user === 'root' || user === '0') fail('the image runs as root');
  const app = path.join(root, workdir);
  const secret = readdirSync(app, { recursive: true }).filter(
    (name) => !name.startsWith('node_modules') && /(^|\/)(\.env|\.git|secret|data|tests)$/.test(name),
  );
  if (secret.length > 0) fail(`not for an image: ${secret}`);
  for (const tool of ['jest', '@biomejs']) {
    if (existsSync(path.join(app, 'node_modules', tool))) fail(`${tool} must not be in the image`);
  }
}

/** Moves the paths in the settings below the root of the image. */
const settingsOf = ({ env, root }) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? path.join(root, value) : value]),
  );

async function run(stage) {
  const [program, ...words] = stage.command;
  const env = { PATH: process.env.PATH, ...settingsOf(stage), SERVICE_PORT: '0' };
  const cwd = path.join(stage.root, stage.workdir);
  const child = spawn(program, words, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
  try {
    const url = await new Promise((resolve, reject) => {
      let printed = '';
      child.stdout.on('data', (chunk) => {
        printed += chunk;
        const ready = /^ready (\S+)$/m.exec(printed);
        if (ready) resolve(ready[1]);
      });
      void ended.then((code) => reject(new Error(`the service ended with ${code}`)));
      setTimeout(() => reject(new Error('the service was not ready within 120 s')), 120_000).unref();
    });
    for (const page of ['/health/ready', '/docs', '/auth']) {
      const { status } = await fetch(url + page);
      console.log(`${page}: ${status}`);
      if (status !== 200) fail(`${page} answered ${status}`);
    }
    const [checker, ...args] = stage.health;
    const health = spawnSync(checker, args, { env: { ...env, SERVICE_PORT: new URL(url).port }, stdio: 'inherit' });
    if (health.status !== 0) fail(`HEALTHCHECK ended with ${health.status}`);
  } finally {
    child.kill('SIGTERM');
  }
  const code = await ended;
  if (code !== 0) fail(`the service ended with ${code}`);
}

async function main() {
  try {
    const stage = build(context(), `${shims()}${path.delimiter}${process.env.PATH}`);
    checkContents(stage);
    await run(stage);
    console.log('the image builds from a clean clone, and its service gets ready');
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
