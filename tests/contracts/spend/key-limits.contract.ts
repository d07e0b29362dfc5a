import type { Account } from '../../../src/domain/accounts/account.js';
import type { Credential } from '../../../src/domain/accounts/credential.js';
import type { Amounts, Demand } from '../../../src/domain/spend/demand.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { anApiKey, at, ids } from '../../support/records.js';
import { type Repositories, type StoreUnderTest, stocked } from '../../support/repositories.js';

const ONE = 1_000_000_000n;
const took = (tokens: number): Amounts => ({ cost: 0n, tokens: BigInt(tokens) * ONE, calls: ONE, seconds: 0n });

/** A call of 40 tokens. */
const demand = (over: Partial<Demand> = {}): Demand => ({
  ...{ promptTokens: 10, answers: 1, mostTokens: 30, isExact: true, mostMs: 60_000, prices: null },
  ...over,
});

export function keyLimitsContract(adapter: string, store: StoreUnderTest) {
  describe(`Limits of API keys in ${adapter}`, () => {
    let here: Repositories;
    let elsewhere: Repositories;
    let account: Account;
    beforeEach(async () => {
      const stock = await stocked(store);
      ({ account } = stock);
      here = stock;
      elsewhere = await store.elsewhere();
    });

    const save = (key: Credential) => here.unitOfWork.run(() => here.keyLimits.save(key, account.teamId));
    const limited = async (over: Partial<Credential>): Promise<Credential> => {
      const key = anApiKey(account, over);
      await here.credentials.add(key);
      await save(key);
      return key;
    };
    const spenderOf = (key: Credential) =>
      ({ teamId: account.teamId, projectId: 'prj_1', accountId: account.id, keyId: key.id }) as const;
    const take = async (key: Credential, { holds } = here, over: Partial<Demand> = {}, now = at(1)) => {
      const callId = ids.next('job');
      return { callId, taken: await holds.take({ ...spenderOf(key), callId, instance: 7 }, demand(over), now) };
    };
    type Taken = Awaited<ReturnType<typeof take>>;
    const isServed = ({ taken }: Taken) => 'budgets' in taken;

    it('hold for their key alone, and are no budgets that anybody sees', async () => {
      const key = await limited({ tokensPerMinute: 40, maxConcurrent: 5 });
      const other = await limited({});
      expect(await here.holds.applies(spenderOf(key))).toBe(true);
      expect(await here.holds.applies(spenderOf(other))).toBe(false);
      expect(await here.budgets.list({ teamId: null }, { limit: 9, after: null }, at(1))).toEqual([]);
      expect(await here.budgets.count(account.teamId)).toBe(0);
      expect(await here.budgets.find(`${key.id} tokens`, at(1))).toBeNull();
      expect((await take(key)).taken).toMatchObject({ mostTokens: 30, budgets: 2 });
      expect((await take(key)).taken).toEqual({ reached: { of: 'tokens', limit: 40 } });
    });

    it.each([1, 2])('never let more calls run at once than a key may, on %s instances', async (instances) => {
      const key = await limited({ maxConcurrent: 7 });
      const ready = barrier(60);
      const calls = await atOnce(60, async (party) => {
        await ready();
        return take(key, party % instances === 0 ? here : elsewhere);
      });
      const [served, refused] = [calls.filter(isServed), calls.filter((one) => !isServed(one))];
      expect(served).toHaveLength(7);
      expect(refused[0]?.taken).toEqual({ reached: { of: 'calls', limit: 7 } });
      await elsewhere.holds.settle(served[0]?.callId ?? '', took(40));
      expect(isServed(await take(key))).toBe(true);
      expect(isServed(await take(key))).toBe(false);
    });

    it.each([1, 2])('never give a key more tokens in a minute than it may take, on %s instances', async (instances) => {
      const key = await limited({ tokensPerMinute: 400 });
      const ready = barrier(60);
      const calls = await atOnce(60, async (party) => {
        await ready();
        return take(key, party % instances === 0 ? here : elsewhere);
      });
      const served = calls.filter(isServed);
      expect(served).toHaveLength(10);
      for (const { callId } of served.slice(0, 5)) await here.holds.settle(callId, took(20)); // frees 100 tokens
      const again = await atOnce(10, (party) => take(key, party % 2 ? here : elsewhere));
      expect(again.filter(isServed)).toHaveLength(2);
      expect(isServed(await take(key, here, {}, at(61)))).toBe(true);
    });

    it('get the places of a dead instance back, and count its tokens as if they were taken', async () => {
      const key = await limited({ maxConcurrent: 2, tokensPerMinute: 100 });
      const [one, two] = [await take(key), await take(key)];
      expect(await elsewhere.holds.callsOf(7, 9)).toEqual([one.callId, two.callId].sort());
      await elsewhere.holds.settle(one.callId, took(0)); // its model had not begun
      await elsewhere.holds.settle(two.callId, null); // nobody knows what it has made
      expect((await take(key)).taken).toMatchObject({ budgets: 2 });
      expect((await take(key)).taken).toEqual({ reached: { of: 'tokens', limit: 100 } });
      const next = at(61);
      expect(isServed(await take(key, here, {}, next))).toBe(true);
      expect((await take(key, here, {}, next)).taken).toEqual({ reached: { of: 'calls', limit: 2 } });
    });

    it('cut an answer without a bound to the tokens that are left', async () => {
      const key = await limited({ tokensPerMinute: 100 });
      expect((await take(key)).taken).toMatchObject({ mostTokens: 30 });
      expect((await take(key, here, { mostTokens: null, isExact: false })).taken).toMatchObject({ mostTokens: 50 });
    });

    it('change with their key from the next call on, and go with it', async () => {
      const key = await limited({ maxConcurrent: 1 });
      const { callId } = await take(key);
      expect(isServed(await take(key))).toBe(false);
      await save({ ...key, maxConcurrent: 2 });
      expect(isServed(await take(key))).toBe(true);
      expect(isServed(await take(key))).toBe(false);
      await save({ ...key, maxConcurrent: null, tokensPerMinute: 40 });
      expect(isServed(await take(key))).toBe(true);
      expect((await take(key)).taken).toEqual({ reached: { of: 'tokens', limit: 40 } });
      await here.holds.settle(callId, took(40)); // its limit is gone
      await save({ ...key, tokensPerMinute: 40 });
      await here.credentials.remove({ accountId: account.id, kind: 'api_key', id: key.id });
      expect(await here.holds.applies(spenderOf(key))).toBe(false);
    });
  });
}
