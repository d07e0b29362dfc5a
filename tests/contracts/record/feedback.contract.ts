import type { Feedback } from '../../../src/domain/record/feedback.js';
import type { KeptCall } from '../../../src/domain/record/kept-call.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import { race } from '../../support/barrier.js';
import { aKeptCall, keep } from '../../support/kept-calls.js';
import { anAccount, at, ids } from '../../support/records.js';
import { type Repositories, type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

export function feedbackContract(adapter: string, store: StoreUnderTest) {
  describe(`Feedback in ${adapter}`, () => {
    let stock: StockedStore;
    let call: KeptCall;
    let other: KeptCall;

    beforeEach(async () => {
      stock = await stocked(store);
      [call, other] = [aKeptCall(stock.project, stock.account), aKeptCall(stock.project, stock.account)];
      for (const one of [call, other]) await keep(stock, one);
    });

    const feedbackOn = ({ id: callId, projectId }: KeptCall, over: Partial<Feedback> = {}): Feedback => ({
      ...{ id: ids.next('fbk'), callId, projectId, accountId: stock.account.id, keyId: null, score: 1 },
      ...{ label: 'helpful', comment: 'Short.', correction: null, createdAt: at(1), isCurrent: true },
      ...over,
    });
    const given = async (over: Partial<Feedback> = {}, of = call) => {
      const feedback = feedbackOn(of, over);
      await stock.feedback.add(feedback);
      return feedback;
    };

    it('is kept as it was given, with any JSON as the correction', async () => {
      const corrections = ['Paris', '', 0, false, [1, null], { a: { 'b c': 'é' } }, null];
      for (const [index, correction] of corrections.entries()) {
        const one = await given({ correction, createdAt: at(index), score: -0.25, keyId: 'key_1', comment: null });
        expect((await stock.feedback.ofCalls([call.id]))[0]).toEqual(one);
      }
    });

    it('counts if it is the last one of its account on the call; the others are history', async () => {
      const first = await given();
      const ofColleague = await given({ accountId: stock.colleague.id, createdAt: at(2) });
      const elsewhere = await given({}, other);
      const last = await given({ score: null, label: null, createdAt: at(3) });
      const replaced = { ...first, isCurrent: false };
      expect(await stock.feedback.ofCalls([call.id])).toEqual([last, ofColleague, replaced]);
      expect(await stock.feedback.ofCalls([other.id, 'job_unknown'])).toEqual([elsewhere]);
      expect(await stock.feedback.ofCalls([call.id, other.id])).toHaveLength(4);
      expect(await stock.feedback.ofCalls([])).toEqual([]);
    });

    it('that counts is read and measured for several calls at once', async () => {
      await given();
      const last = await given({ createdAt: at(3) });
      const ofColleague = await given({ accountId: stock.colleague.id, createdAt: at(2) });
      const elsewhere = await given({ correction: 'Paris' }, other);
      const { feedback } = stock;
      expect(await feedback.current([call.id, 'job_unknown'])).toEqual([last, ofColleague]);
      expect(await feedback.current([call.id, other.id])).toHaveLength(3);
      expect([await feedback.current([]), await feedback.sizesOfCurrent([])]).toEqual([[], new Map()]);
      const sizes = await feedback.sizesOfCurrent([call.id, other.id, 'job_unknown']);
      expect([...sizes.keys()].sort()).toEqual([call.id, other.id].sort());
      const json = Buffer.byteLength(JSON.stringify([elsewhere]));
      for (const bytes of [sizes.get(other.id) ?? 0, await feedback.bytesOf(other.id)]) {
        expect(bytes).toBeGreaterThan(json);
        expect(bytes).toBeLessThan(json + 1_000);
      }
      expect(await feedback.bytesOf(call.id)).toBeGreaterThan(sizes.get(call.id) as number);
      expect(await feedback.bytesOf('job_unknown')).toBe(0);
    });

    it('that counts is read within a number and a length for each call, the newest first', async () => {
      const accounts = Array.from({ length: 101 }, () => anAccount(stock.team));
      for (const account of accounts) await stock.accounts.add(account);
      const made: Feedback[] = [];
      for (const [second, { id: accountId }] of accounts.entries())
        made.unshift(await given({ accountId, createdAt: at(second) }));
      expect(await stock.feedback.current([call.id])).toEqual(made.slice(0, 100));
      const long: Feedback[] = [];
      for (const [second, { id: accountId }] of accounts.slice(0, 5).entries())
        long.unshift(await given({ accountId, createdAt: at(second), correction: 'x'.repeat(60_000) }, other));
      expect(await stock.feedback.current([other.id])).toEqual(long.slice(0, 4));
      expect((await stock.feedback.sizesOfCurrent([other.id])).get(other.id)).toBeLessThan(250_000);
    });

    it('counts once if an account gives several at the same time', async () => {
      const here: Repositories[] = [stock, await store.elsewhere(), stock, await store.elsewhere()];
      await race(
        4,
        (party) => (here[party] as Repositories).feedback.history(call.id, stock.account.id),
        (_, party) => (here[party] as Repositories).feedback.add(feedbackOn(call, { score: party / 4 })),
        (steps, party) => (here[party] as Repositories).unitOfWork.run(steps),
      );
      const all = await stock.feedback.ofCalls([call.id]);
      expect(all.map(({ score }) => score).sort()).toEqual([0, 0.25, 0.5, 0.75]);
      expect(all.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
    });

    it('is measured for each account and call', async () => {
      const history = () => stock.feedback.history(call.id, stock.account.id);
      expect(await history()).toEqual({ count: 0, bytes: 0 });
      await given({ label: 'é', comment: null, correction: { a: 1 } });
      await given({ label: null, comment: 'x', correction: null });
      await given({}, other);
      await given({ accountId: stock.colleague.id });
      expect(await history()).toEqual({ count: 2, bytes: 4 + 7 + 3 });
    });

    it('gives for each call the newest correction that counts', async () => {
      await given({ correction: 'replaced', createdAt: at(9) });
      await given({ correction: 'older', createdAt: at(2) });
      await given({ correction: ['newer'], createdAt: at(3), accountId: stock.colleague.id });
      await given({ correction: 'taken back' }, other);
      expect(await stock.feedback.corrections([call.id, other.id, 'job_unknown'])).toEqual(
        new Map<string, unknown>([
          [call.id, ['newer']],
          [other.id, 'taken back'],
        ]),
      );
      await given({ correction: null }, other);
      expect([...(await stock.feedback.corrections([call.id, other.id])).keys()]).toEqual([call.id]);
      expect(await stock.feedback.corrections([])).toEqual(new Map());
    });

    it('goes away with its call and with its account, and is refused for a call that is gone', async () => {
      const own = await given();
      await given({ accountId: stock.colleague.id });
      await stock.accounts.remove(stock.colleague.id);
      expect(await stock.feedback.ofCalls([call.id])).toEqual([own]);
      await given({}, other);
      await stock.keptCalls.remove(other.id);
      expect(await stock.feedback.ofCalls([call.id, other.id])).toEqual([own]);
      await expect(given({}, other)).rejects.toThrow(NotFound);
      await expect(given({ accountId: 'usr_gone' })).rejects.toThrow(NotFound);
    });
  });
}
