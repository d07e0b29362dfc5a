import fc from 'fast-check';
import { eventsOf } from '../../../src/infrastructure/http-client/server-sent-events.js';

const MEBIBYTE = 1024 * 1024;

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  for (const [i, end] of ends.entries()) yield bytes.slice(ends[i - 1] ?? 0, end);
}

async function read(body: string, cuts: readonly number[] = [], type = 'text/event-stream; charset=utf-8') {
  const events: string[] = [];
  const answer = { status: 200, headers: { 'content-type': type }, body: chunksOf(Buffer.from(body), cuts) };
  for await (const data of eventsOf(answer)) events.push(data);
  return events;
}

describe('eventsOf', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((any) => any.replace(/[\r\n\0\uFEFF]/g, ''));
  const anEvent = fc.record({
    lines: fc.array(text, { minLength: 1, maxLength: 3 }),
    event: fc.option(text.filter((name) => name !== '')),
    comment: fc.option(text),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    space: fc.constantFrom('', ' '),
  });

  it('reads the same events for any division of the bytes into chunks', async () => {
    const whole = fc.tuple(fc.array(anEvent, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 8 }), fc.boolean());
    const property = fc.asyncProperty(whole, async ([events, cuts, isEnded]) => {
      const written = events.map(({ lines, event, comment, end, space }) => {
        const named = event === null ? [] : [`event: ${event}`];
        const noted = comment === null ? [] : [`:${comment}`];
        // A reader drops the first space, so a text that begins with a space needs one more.
        return [
          ...noted,
          ...named,
          ...lines.map((line) => `data:${space || (line.startsWith(' ') ? ' ' : '')}${line}`),
          '',
        ]
          .map((line) => line + end)
          .join('');
      });
      const body = written.join('');
      const expected = events.map(({ lines }) => lines.join('\n'));
      expect(await read(isEnded ? body : body.replace(/[\r\n]+$/, ''), cuts)).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('limits the length of an event, in one line or in several, and of the whole answer', async () => {
    const line = `data: ${'x'.repeat(MEBIBYTE / 4)}\n`;
    expect(await read(`${line.repeat(3)}\n`.repeat(2))).toHaveLength(2);
    const tooLong = { problem: 'it has an event that is too long.' };
    await expect(read(`data: ${'x'.repeat(2 * MEBIBYTE)}`, [9])).rejects.toMatchObject(tooLong);
    await expect(read(line.repeat(6))).rejects.toMatchObject(tooLong);
    const endless = async function* () {
      for (;;) yield Buffer.from(`:${'x'.repeat(MEBIBYTE)}\n`);
    };
    const events = eventsOf({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: endless() });
    await expect(events.next()).rejects.toMatchObject({ problem: 'it is too long.' });
  });

  it('refuses other media types', async () => {
    const other = { problem: 'it is not the stream of events that was asked for.' };
    for (const type of ['application/json', 'text/event-streams', ''])
      await expect(read('data: x\n\n', [], type)).rejects.toMatchObject(other);
  });
});
