import fc from 'fast-check';
import { linesOf } from '../../../src/infrastructure/http-client/json-lines.js';

const MEBIBYTE = 1024 * 1024;

async function read(chunks: readonly Uint8Array[], type = 'application/x-ndjson') {
  const body = (async function* () {
    yield* chunks;
  })();
  const lines: string[] = [];
  for await (const line of linesOf({ status: 200, headers: { 'content-type': type }, body })) lines.push(line);
  return lines;
}

describe('linesOf', () => {
  it('reads the same lines for any division of the bytes into chunks, with or without an end of the last line', async () => {
    const whole = fc.tuple(
      fc.array(fc.jsonValue(), { maxLength: 5 }),
      fc.array(fc.nat()),
      fc.constantFrom('', '\n', '\r\n\n'),
    );
    const property = fc.asyncProperty(whole, async ([values, cuts, end]) => {
      const bytes = Buffer.from(values.map((value) => JSON.stringify(value)).join('\n') + end);
      const ends = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
      const lines = await read(ends.slice(1).map((to, i) => bytes.subarray(ends[i], to)));
      expect(lines.map((line) => JSON.stringify(JSON.parse(line)))).toEqual(
        values.map((value) => JSON.stringify(value)),
      );
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('refuses a line that is too long, ended or not, and another media type', async () => {
    const long = Buffer.alloc(MEBIBYTE, 'x');
    const problem = 'it has a line that is too long.';
    await expect(read([long, long])).rejects.toMatchObject({ problem });
    await expect(read([Buffer.concat([long, long, Buffer.from('\n')])])).rejects.toMatchObject({ problem });
    await expect(read([Buffer.from('{}')], 'text/html')).rejects.toMatchObject({
      problem: 'it is not the stream of events that was asked for.',
    });
  });
});
