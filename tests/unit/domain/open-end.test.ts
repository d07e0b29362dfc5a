import { withoutOpenEnd, withoutOpenEnds } from '../../../src/domain/record/open-end.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { written } from '../../contracts/record/personal-data.js';

describe('the open end of an answer', () => {
  it.each([
    ['See 4111 1111 1111 111', 'See '],
    ['See 4111 - 1111 - 1111 - 11', 'See '],
    ['See 4111-1111 1111 ', 'See '],
    ['Call +49 (30) 123', 'Call '],
    ['Pay to DE89 3704 0044 0532 0130 0', 'Pay to '],
    ['Pay to MT84 MALT 0110 0001 2345 MTLC A', 'Pay to '],
    ['See ４１１１ １１１１ １', 'See '],
    ['Key AKIAIOSFODNN7EXAMPL', 'Key '],
    ['Write to ada.lovelace@exam', 'Write to '],
    ['The password is "correct horse ba', 'The password '],
    ['{"id":7,\n"passphrase": "correct horse', '{"id":7,\n"passphrase"'],
    ['It is true ', 'It is true '],
    ['In 2024 it rained', 'In 2024 it '],
    ['Paris', ''],
    ['', ''],
    ['{"a": "b"}', '{"a": "b"}'],
    ['4111', ''],
  ])('is left out: %j', (text, kept) => {
    expect(withoutOpenEnd(text)).toBe(kept);
  });

  it('has at most 256 characters', () => {
    expect(withoutOpenEnd('a'.repeat(1_000))).toBe('a'.repeat(744));
    expect(withoutOpenEnd('12 '.repeat(1_000))).toHaveLength(2_745);
    expect(withoutOpenEnd(`${'😀'.repeat(200)}a`).isWellFormed()).toBe(true);
  });

  it.each(Object.entries(written).flatMap(([kind, texts]) => texts.map((text) => [kind, text] as const)))(
    'holds no more than the first word of %s %j, wherever it ends',
    (_, text) => {
      for (let end = 1; end < text.length; end++) {
        const kept = withoutOpenEnd(`It is ${text.slice(0, end)}`);
        expect(kept.replace(/\D/g, '').length).toBeLessThan(4);
      }
    },
  );

  it('is looked for in the texts of answers that the model did not end, and in the last call of a tool', () => {
    const calls = [
      { id: 'a', name: 'f', arguments: '{"a' },
      { id: 'b', name: 'f', arguments: '{"b": "c d' },
    ];
    const answer = (finish_reason: string | null): JsonObject => ({
      ...{ role: 'assistant', finish_reason, content: 'One two', reasoning: 'Hm hm', tool_calls: calls },
    });
    const open = { content: 'One ', reasoning: 'Hm ', tool_calls: [calls[0], { ...calls[1], arguments: '{"b"' }] };
    for (const reason of [null, 'length', 'other'])
      expect(withoutOpenEnds(answer(reason))).toEqual({ ...answer(reason), ...open });
    for (const reason of ['stop', 'tool_calls']) expect(withoutOpenEnds(answer(reason))).toEqual(answer(reason));
    const both = { ...answer('stop'), others: [answer('length')] };
    const closed = { ...answer('stop'), others: [{ ...answer('length'), ...open }] };
    expect(withoutOpenEnds(both)).toEqual(closed);
    const cut = withoutOpenEnds({ ...answer('stop'), content: 'One two', reasoning: ' {"a": ["b"]}' }, true);
    expect(cut).toMatchObject({ content: 'One ', reasoning: ' {"a": ["b"]}' }); // JSON that is whole stays
    expect(cut.tool_calls).toMatchObject([{ arguments: '' }, { arguments: '' }]);
    const empty = { role: 'assistant', finish_reason: null, content: null };
    expect(withoutOpenEnds(empty)).toEqual(empty);
  });
});
