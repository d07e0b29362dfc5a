import type { SecretTokens, TokenKind } from '../../../src/application/shared/ports.js';

const PREFIXES: Record<TokenKind, string> = {
  session: 'tns_',
  api_key: 'tnk_',
  verification: 'tnv_',
  reset: 'tnr_',
  invite: 'tni_',
};
const CHECKSUM_BITS = 32;
const KINDS = Object.keys(PREFIXES) as TokenKind[];

export function secretTokensContract(adapter: string, open: () => SecretTokens) {
  describe(`SecretTokens of ${adapter}`, () => {
    const tokens = open();

    it.each(KINDS)('begin with the prefix of their kind and are of letters and digits: %s', (kind) => {
      const { token } = tokens.issue(kind);
      expect(token.slice(0, 4)).toBe(PREFIXES[kind]);
      expect(token.slice(4)).toMatch(/^[0-9A-Za-z]+$/);
    });

    it.each(KINDS)('are read again by their kind and digest, in any process: %s', (kind) => {
      const { token, digest } = tokens.issue(kind);
      expect(open().read(token)).toEqual({ kind, digest });
    });

    it('hold 256 bits of chance at least', () => {
      const issued = Array.from({ length: 2_000 }, () => tokens.issue('session').token.slice(4));
      expect(new Set(issued).size).toBe(issued.length);
      const length = Math.min(...issued.map((secret) => secret.length));
      const places = [...Array(length).keys()].map((place) => entropy(issued.map((secret) => secret[place] as string)));
      const bits = places.reduce((sum, one) => sum + one, 0);
      // A checksum looks like chance as well, and is none. So many tokens show all but a few of the bits.
      expect(bits - CHECKSUM_BITS).toBeGreaterThan(250);
      expect(length * Math.log2(62)).toBeGreaterThan(256 + CHECKSUM_BITS);
    });

    it('are kept as digests that give nothing of them away', () => {
      const { token, digest } = tokens.issue('api_key');
      expect(digest.length).toBeGreaterThanOrEqual(43);
      const forms = [
        digest,
        ...(['hex', 'base64'] as const).map((form) => Buffer.from(digest, form).toString('latin1')),
      ];
      for (let start = 0; start + 8 <= token.length; start++)
        for (const form of forms) expect(form).not.toContain(token.slice(start, start + 8));
      expect(tokens.read(digest)).toBeNull();
      expect(tokens.issue('api_key').digest).not.toBe(digest);
    });

    it.each(KINDS)('come with a hint for their owner that is of no use to anybody else: %s', (kind) => {
      const issued = Array.from({ length: 100 }, () => tokens.issue(kind));
      for (const { token, hint } of issued) {
        expect(hint).toMatch(new RegExp(`^${PREFIXES[kind]}….+$`));
        const [, shown = ''] = hint.split('…');
        expect(token.endsWith(shown)).toBe(true);
        expect(shown.length).toBeLessThanOrEqual(4);
        expect(tokens.read(hint)).toBeNull();
      }
      expect(new Set(issued.map(({ hint }) => hint)).size).toBeGreaterThan(95);
    });

    it('are told from other text by any change of one character', () => {
      const { token } = tokens.issue('session');
      for (let place = 0; place < token.length; place++) {
        for (const other of ['0', 'A', 'z', '_', ' ', 'é']) {
          if (other === token[place]) continue;
          expect(tokens.read(token.slice(0, place) + other + token.slice(place + 1))).toBeNull();
        }
      }
    });

    it('are told from other text by two characters that have changed places', () => {
      const { token } = tokens.issue('verification');
      for (let place = 0; place + 1 < token.length; place++) {
        const [one, two] = [token[place] as string, token[place + 1] as string];
        if (one !== two) expect(tokens.read(token.slice(0, place) + two + one + token.slice(place + 2))).toBeNull();
      }
    });

    it('are of the kind that they were issued as, whatever prefix they are given', () => {
      for (const kind of KINDS) {
        const { token } = tokens.issue(kind);
        const others = [...Object.values(PREFIXES), 'tnx_', 'TNS_', ''].filter((prefix) => prefix !== PREFIXES[kind]);
        for (const prefix of others) expect(tokens.read(prefix + token.slice(4))).toBeNull();
      }
    });

    it('are told from any other text', () => {
      const { token } = tokens.issue('session');
      const more = [`${token}0`, `0${token}`, ` ${token}`, `${token} `, `${token}\n`, `${token}\0`, token + token];
      const less = [token.slice(0, -1), token.slice(1), token.slice(0, 47), 'tns_', ''];
      const otherwise = [token.toUpperCase(), `Bearer ${token}`, encodeURIComponent(`${token}=`), 'x'.repeat(100_000)];
      for (const text of [...more, ...less, ...otherwise]) expect(tokens.read(text)).toBeNull();
    });
  });
}

/** The bits of chance that the characters of one place hold, after Shannon. */
function entropy(characters: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce(
    (bits, count) => bits - (count / characters.length) * Math.log2(count / characters.length),
    0,
  );
}
