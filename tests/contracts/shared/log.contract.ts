import type { LogFields, Logger } from '../../../src/application/shared/ports.js';

export interface LogUnderTest {
  readonly log: Logger;
  /** Closes the log and returns its lines. */
  lines(): Promise<{ level: string; event: string; fields: LogFields }[]>;
}

export function logContract(adapter: string, open: () => LogUnderTest) {
  describe(`Logger of ${adapter}`, () => {
    it('writes one line for each event, with its level, in the order of the events', async () => {
      const { log, lines } = open();
      log.info('first');
      log.warn('second', { n: 2 });
      log.error('third', { text: 'a', flag: false, nothing: null, list: [1, { two: 2 }] });
      log.debug('fourth');
      expect(await lines()).toEqual([
        { level: 'info', event: 'first', fields: {} },
        { level: 'warn', event: 'second', fields: { n: 2 } },
        { level: 'error', event: 'third', fields: { text: 'a', flag: false, nothing: null, list: [1, { two: 2 }] } },
        { level: 'debug', event: 'fourth', fields: {} },
      ]);
    });

    it('writes the name and the message of an error', async () => {
      const { log, lines } = open();
      log.error('failed', { error: new TypeError('what went wrong') });
      const [line] = await lines();
      expect(line?.fields.error).toMatchObject({ message: 'what went wrong', name: 'TypeError' });
    });

    it('adds the fields of `within` to every line, also after an await; inner fields win over outer ones', async () => {
      const { log, lines } = open();
      const failure = new Error('no');
      log.info('before');
      const answer = await log.within({ request: 'r1' }, async () => {
        log.info('at once', { own: 1 });
        await new Promise((resolve) => setImmediate(resolve));
        log.info('later');
        return 'answer';
      });
      log.info('after');
      await expect(log.within({ request: 'r2' }, () => Promise.reject(failure))).rejects.toBe(failure);
      log.within({ a: 1, b: 1, c: 1 }, () => log.within({ b: 2, c: 2 }, () => log.info('inner', { c: 3 })));
      expect(answer).toBe('answer');
      expect((await lines()).map(({ event, fields }) => [event, fields])).toEqual([
        ['before', {}],
        ['at once', { request: 'r1', own: 1 }],
        ['later', { request: 'r1' }],
        ['after', {}],
        ['inner', { a: 1, b: 2, c: 3 }],
      ]);
    });

    it('gives lines of a bound function the fields at the time of `bound`, not those of its caller', async () => {
      const { log, lines } = open();
      const said = (n: number) => {
        log.info('said', { n });
        return n + 1;
      };
      const free = log.bound(said);
      const bound = log.within({ request: 'r1' }, () => log.bound(said));
      expect(log.within({ request: 'r2', other: true }, () => [free(1), bound(2)])).toEqual([2, 3]);
      bound(3);
      expect((await lines()).map(({ fields }) => fields)).toEqual([
        { n: 1 },
        { request: 'r1', n: 2 },
        { request: 'r1', n: 3 },
      ]);
    });

    it('writes every line once and in order, also after several flushes', async () => {
      const { log, lines } = open();
      await log.flush();
      log.info('first');
      await log.flush();
      log.info('second');
      await Promise.all([log.flush(), log.flush()]);
      expect((await lines()).map(({ event }) => event)).toEqual(['first', 'second']);
    });

    it('does not let a field replace the event or its level', async () => {
      const { log, lines } = open();
      log.within({ event: 'forged', level: 'info' }, () => log.warn('true', { event: 'forged', level: 'info' }));
      expect(await lines()).toMatchObject([{ level: 'warn', event: 'true' }]);
    });
  });
}
