import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const sideThread = join(process.cwd(), 'dist/src/infrastructure/onnx-chat/worker/chat-worker.js');

describe('a process with a second thread', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-thread-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['fails', "setImmediate(() => { throw new Error('last words') })", /last words/],
    ['ends', '', /a thread ended with code 0/],
  ])('ends when the thread %s', async (name, program, words) => {
    const file = join(folder, `${name}.js`);
    writeFileSync(file, program);
    const beside = relative(dirname(sideThread), file);
    const main = `new (require(${JSON.stringify(sideThread)}).Thread)(${JSON.stringify(beside)}, () => {});
      setInterval(() => {}, 1000);`;
    await expect(promisify(execFile)('node', ['-e', main])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(words),
    });
  });
});
