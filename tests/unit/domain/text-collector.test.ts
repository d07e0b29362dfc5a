import { TextCollector } from '../../../src/domain/shared/text-collector.js';

describe('TextCollector', () => {
  it('joins many small pieces in their order', () => {
    const text = new TextCollector(1_000_000);
    const pieces = Array.from({ length: 12_345 }, (_, n) => `${n} `);
    for (const piece of pieces) expect(text.add(piece)).toBe(true);
    expect(text.joined).toBe(pieces.join(''));
    expect(text).toHaveLength(pieces.join('').length);
  });

  it('keeps only the beginning of a text that is too long, and tells so', () => {
    const text = new TextCollector(5);
    expect([text.add('abc'), text.add('de'), text.add(''), text.add('fg')]).toEqual([true, true, true, false]);
    for (let n = 0; n < 10_000; n++) expect(text.add('x')).toBe(false);
    expect(text.joined).toBe('abcde');
  });
});
