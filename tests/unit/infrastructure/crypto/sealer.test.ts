import { Sealer } from '../../../../src/infrastructure/crypto/secrets.js';

const SECRET = 'a secret of the service';
const sealer = new Sealer(SECRET, 'outbox');

it.each(['', 'x', 'Grüße 王秀英 🦆 \0\r\n', 'long '.repeat(50_000)])(
  'Sealer opens a sealed text, also with another sealer of the same secret: %#',
  (text) => {
    const sealed = sealer.seal(text, 'msg_1');
    expect(sealer.open(sealed, 'msg_1')).toBe(text);
    expect(new Sealer(SECRET, 'outbox').open(sealed, 'msg_1')).toBe(text);
  },
);

it('Sealer reveals only the length of a text, and seals it differently each time', () => {
  const sealed = Array.from({ length: 100 }, () => sealer.seal('the same secret text', 'msg_1'));
  expect(new Set(sealed).size).toBe(100);
  for (const one of sealed) {
    expect(one).toMatch(/^[\w-]+$/);
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toMatch(/same|secret|text/);
    expect(one).toHaveLength(sealed[0]?.length as number);
  }
});

it('Sealer does not open a text with another context, purpose or secret', () => {
  const sealed = sealer.seal('text', 'msg_1');
  expect(() => sealer.open(sealed, 'msg_2')).toThrow();
  expect(() => sealer.open(sealed, '')).toThrow();
  expect(() => new Sealer(SECRET, 'invites').open(sealed, 'msg_1')).toThrow();
  expect(() => new Sealer(`${SECRET}!`, 'outbox').open(sealed, 'msg_1')).toThrow();
});

it('Sealer does not open a text if any byte has changed', () => {
  const bytes = Buffer.from(sealer.seal('text', 'msg_1'), 'base64url');
  for (let place = 0; place < bytes.length; place++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    expect(() => sealer.open(changed.toString('base64url'), 'msg_1')).toThrow();
  }
});
