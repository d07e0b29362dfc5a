import type { LogFields, Logger } from '../../../src/application/shared/ports.js';

export interface LogUnderTest {
  readonly log: Logger;
  /** Closes the log and returns its lines. */
  lines(): Promise<{ level: string; event: string; fields: LogFields }[]>;
}

export function logContract(adapter: string, open: (running?: () => LogFields) => LogUnderTest) {
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

    it('adds the fields of the running code to each line; the fields of the line win', async () => {
      let running: LogFields = {};
      const { log, lines } = open(() => running);
      log.info('before');
      running = { request: 'r1', n: 1 };
      log.warn('at once', { own: 1 });
      log.error('later', { n: 2 });
      running = {};
      log.debug('after');
      expect((await lines()).map(({ event, fields }) => [event, fields])).toEqual([
        ['before', {}],
        ['at once', { request: 'r1', n: 1, own: 1 }],
        ['later', { request: 'r1', n: 2 }],
        ['after', {}],
      ]);
    });

    it('gives the lines of a child its fields, and those of the code that made it, not of its caller', async () => {
      let running: LogFields = { request: 'r1' };
      const { log, lines } = open(() => running);
      const child = log.child({ job: 'j1', step: 1 });
      running = { request: 'r2' };
      child.info('of the child');
      child.child({ step: 2 }).warn('of its child', { own: true });
      child.info('again', { step: 3 });
      log.info('of the parent');
      await child.flush();
      expect((await lines()).map(({ event, fields }) => [event, fields])).toEqual([
        ['of the child', { request: 'r1', job: 'j1', step: 1 }],
        ['of its child', { request: 'r1', job: 'j1', step: 2, own: true }],
        ['again', { request: 'r1', job: 'j1', step: 3 }],
        ['of the parent', { request: 'r2' }],
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
      log.child({ event: 'forged', level: 'info' }).warn('true', { event: 'forged', level: 'info' });
      expect(await lines()).toMatchObject([{ level: 'warn', event: 'true' }]);
    });
  });
}
