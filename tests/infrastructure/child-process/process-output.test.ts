import { OutputLines, OutputTail, withoutPaths } from '../../../src/infrastructure/child-process/process-output.js';

describe('the output of a process', () => {
  const linesOf = (...chunks: (string | Buffer)[]) => {
    const taken: string[] = [];
    const lines = new OutputLines((line) => taken.push(line));
    for (const chunk of chunks) lines.write(Buffer.from(chunk as string));
    lines.end();
    return taken;
  };

  it('is read line by line, wherever its chunks end', () => {
    const accented = Buffer.from('é');
    expect(linesOf('on', 'e\r\ntwo\n\n', accented.subarray(0, 1), accented.subarray(1), '\nlast')).toEqual([
      'one',
      'two',
      'é',
      'last',
    ]);
  });

  it('is read in pieces if a line is too long', () => {
    expect(linesOf('x'.repeat(5_000), 'y'.repeat(5_000)).map(({ length }) => length)).toEqual([4_096, 904, 4_096, 904]);
    expect(linesOf(`${'x'.repeat(5_000)}\n`).map(({ length }) => length)).toEqual([4_096, 904]);
  });

  it('is read without the codes of a terminal', () => {
    expect(linesOf('\u001b[0;93mwarning\u001b[m\n')).toEqual(['warning']);
  });

  it('can be reduced to a number of its last bytes', () => {
    const tail = new OutputTail(10);
    for (const chunk of ['abc', 'd'.repeat(20), 'end\n']) tail.write(Buffer.from(chunk));
    expect(tail.text).toBe('ddddddend');
  });

  it.each([
    ["Cannot find module '/a/b c/d.js'", "Cannot find module 'd.js'"],
    ['at load (/srv/app/dist/main.js:3:7)', 'at load (main.js:3:7)'],
    ['at file:///srv/app/main.js:1', 'at main.js:1'],
    ['node:internal/modules/cjs/loader:1215', 'node:internal/modules/cjs/loader:1215'],
    ['see https://example.com/a/b or onnx/model.onnx, 3/4', 'see https://example.com/a/b or onnx/model.onnx, 3/4'],
  ])('is shown without the paths of the machine: %s', (text, shown) => {
    expect(withoutPaths(text)).toBe(shown);
  });

  it.each([
    ["last words in /srv/odd folder/it's (new)/dist/worker.js", 'last words in worker.js'],
    ["at file:///srv/odd%20folder/it's%20(new)/main.js:1", 'at main.js:1'],
    ["Cannot find module '/srv/odd folder/it's (new)/a b/c.js'", "Cannot find module 'c.js'"],
    ['no /srv/odd folder/x/a.js, nor /srv/odd folder.', 'no a.js, nor odd folder.'],
  ])('is shown without the paths of known folders, whatever their names: %s', (text, shown) => {
    expect(withoutPaths(text, '/srv/odd folder', "/srv/odd folder/it's (new)")).toBe(shown);
  });
});
