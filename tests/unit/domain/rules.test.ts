import { createHash } from 'node:crypto';
import type { ChatMessage } from '../../../src/domain/chat/chat.js';
import { Conversation } from '../../../src/domain/chat/conversation.js';
import { canonical, type Json } from '../../../src/domain/workspace/json.js';
import { canonicalUuid } from '../../../src/domain/workspace/model.js';

describe('canonical', () => {
  it('returns one text for any order of keys, and different texts for different values', () => {
    expect(canonical({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
      canonical({ a: true, b: [1, { c: 'x', d: null }] }),
    );
    const different: Json[] = [
      { a: 1 },
      { a: '1' },
      { a: [1] },
      { a: null },
      {},
      { b: 1 },
      { a: { a: 1 } },
      { 'a":1,"b': 2 },
    ];
    expect(new Set(different.map((value) => canonical(value))).size).toBe(different.length);
  });

  it('returns the same text in every version of the service, because digests of it are stored', () => {
    const value: Json = [
      {
        id: 'a',
        n: { '10': 1, '9': [1.5e-7, -0, 1e21], '': {}, ü: '\u2028\u0001"🦆' },
        l: [[], {}, [null, true, false], [[1, { b: 1, a: 2 }]]],
      },
      Array.from({ length: 3000 }, (_, n) => n / 7),
      Array.from({ length: 3000 }, (_, n) => (n % 3 ? {} : { b: n, a: [n, 'x'] }) as Json),
      { big: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`k${(n * 7919) % 3000}`, n % 2 ? n : [n]])) },
    ];
    expect(createHash('sha256').update(canonical(value)).digest('hex')).toBe(
      'e5fd72e4d7be334bcf044b6c3fbeaef6b99905eb4ca605e02ea1e6ca79797869',
    );
  });
});

describe('canonicalUuid', () => {
  const uuid = '6f1c0a52-3c1e-4a57-9d0e-0f8f2f1f7a11';
  it.each([uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), `{${uuid}}`, `urn:uuid:${uuid}`, ` ${uuid} `])(
    'reads %s',
    (text) => {
      expect(canonicalUuid(text)).toBe(uuid);
    },
  );
  it.each(['', 'x', uuid.slice(1), `${uuid}0`, `{${uuid}`, uuid.replace('f', 'g')])('does not read %s', (text) => {
    expect(canonicalUuid(text)).toBeNull();
  });
});

describe('the title of a conversation', () => {
  const draft = { id: 'cnv_1', projectId: 'prj_1', accountId: 'usr_1', createdAt: new Date(0) };
  const titled = (...messages: ChatMessage[]) => Conversation.begin(draft, messages).title;
  const asked = (content: string) => titled({ role: 'user', content });

  it.each([
    ['What is 7 + 5?', 'What is 7 + 5?'],
    ['  one\r\n\ttwo\u2028three\u0085four\u00a0 five \u001b[31m ', 'one two three four five [31m'],
    ['\u{1F986}'.repeat(81), '\u{1F986}'.repeat(80)],
    [`${'a '.repeat(39)}${'b'.repeat(9)}`, `${'a '.repeat(39)}bb`],
    [`${' \n'.repeat(7_000)}late`, 'late'],
    ['', 'Untitled conversation'],
    [' \n\t ', 'Untitled conversation'],
  ])('is the beginning of the question in one line (%#)', (question, title) => {
    expect(asked(question)).toBe(title);
  });

  it('is that of the first question, also after other messages', () => {
    const system: ChatMessage = { role: 'system', content: 'Be brief.' };
    const greeting: ChatMessage = { role: 'assistant', content: 'Hello' };
    const questions: ChatMessage[] = ['first', 'second'].map((content) => ({ role: 'user', content }));
    expect(titled(system, greeting, ...questions)).toBe('first');
  });
});
