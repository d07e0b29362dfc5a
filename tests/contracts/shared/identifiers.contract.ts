import type { IdGenerator, IdKind } from '../../../src/application/shared/ports.js';

const PREFIXES: Record<IdKind, string> = {
  usr: 'usr_',
  tea: 'tea_',
  ses: 'ses_',
  key: 'key_',
  ver: 'ver_',
  msg: 'msg_',
  prj: 'prj_',
  mdl: 'mdl_',
  cnv: 'cnv_',
  dst: 'dst_',
  dep: 'dep_',
  job: 'job_',
  rul: 'rul_',
  alr: 'alr_',
  whk: 'whk_',
  inv: 'inv_',
  aud: 'aud_',
  req: 'req_',
  chatcmpl: 'chatcmpl-',
};
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Each opening stands for another process. */
export function identifiersContract(adapter: string, open: () => IdGenerator) {
  describe(`IdGenerator made by ${adapter}`, () => {
    it.each(Object.entries(PREFIXES))('has the kind %s in front of a UUIDv7: %s', (kind, prefix) => {
      const id = open().next(kind as IdKind);
      expect(id.slice(0, prefix.length)).toBe(prefix);
      expect(id.slice(prefix.length)).toMatch(UUID_V7);
    });

    it('carries the time at which it was made', () => {
      const before = Date.now();
      const id = open().next('usr');
      const made = Number.parseInt(id.slice(4).replaceAll('-', '').slice(0, 12), 16);
      // The last of many ids of one millisecond may carry the next one.
      expect(made).toBeGreaterThanOrEqual(before);
      expect(made).toBeLessThanOrEqual(Date.now() + 1);
    });

    it('gives none twice', () => {
      const processes = [open(), open(), open()];
      const made = Array.from({ length: 30_000 }, (_, n) => (processes[n % 3] as IdGenerator).next('usr'));
      expect(new Set(made).size).toBe(made.length);
    });

    it('gives them in the order of their text, also many at a time', () => {
      const identifiers = open();
      const made = Array.from({ length: 20_000 }, () => identifiers.next('prj'));
      expect([...made].sort()).toEqual(made);
    });
  });
}
