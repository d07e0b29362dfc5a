import type { Page } from '../../../src/application/shared/ports.js';
import type { Account } from '../../../src/domain/accounts/account.js';
import type { Credential } from '../../../src/domain/accounts/credential.js';
import { atOnce } from '../../support/barrier.js';
import { anApiKey, aSession, at, ids } from '../../support/records.js';
import { expectPages, type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

const YEAR = 365 * 24 * 60 * 60;

export function credentialsContract(adapter: string, store: StoreUnderTest) {
  describe(`CredentialRepository of ${adapter}`, () => {
    let stock: StockedStore;
    let credentials: StockedStore['credentials'];
    let account: Account;
    let stranger: Account;
    beforeEach(async () => {
      stock = await stocked(store);
      ({ credentials, account, colleague: stranger } = stock);
    });

    it('returns the holder of a session', async () => {
      const session = aSession(account);
      await credentials.add(session);
      expect(await credentials.holder(session.digest, at(1))).toEqual({
        kind: 'session',
        credentialId: session.id,
        accountId: account.id,
        accountName: account.name,
        email: account.email,
        alertEmails: account.alertEmails,
        createdAt: account.createdAt,
        teamId: account.teamId,
        role: 'member',
        operator: false,
        emailVerified: false,
        lastUsedAt: null,
        restrictions: null,
      });
    });

    it('returns the present role and verification of the holder, by digest and by id, until the expiry', async () => {
      const [session, key] = [aSession(account, { expiresAt: at(60) }), anApiKey(account)];
      for (const credential of [session, key]) await credentials.add(credential);
      await credentials.holder(session.digest, at(1));
      await stock.accounts.change(account.id, { role: 'developer', emailVerifiedAt: at(2) });
      const holder = await credentials.holder(session.digest, at(59.999));
      expect(holder).toMatchObject({ role: 'developer', emailVerified: true });
      const both = [session.id, key.id];
      const ofKey = { ...holder, kind: 'api_key', credentialId: key.id };
      expect(await credentials.holdersById([session.id], at(59))).toEqual([holder]);
      const found = await credentials.holdersById([...both, ids.next('ses')], at(59));
      expect(found.toSorted((a, b) => b.kind.localeCompare(a.kind))).toEqual([holder, ofKey]);
      expect(await credentials.holder(session.digest, at(60))).toBeNull();
      expect(await credentials.holdersById(both, at(60))).toEqual([ofKey]);
      expect(await credentials.holder(key.digest, at(100 * YEAR))).not.toBeNull();
    });

    it('refuses a credential of a removed account', async () => {
      await stock.accounts.remove(account.id);
      for (const credential of [aSession(account), anApiKey(account)]) {
        await expect(credentials.add(credential)).rejects.toMatchObject({ code: 'unauthenticated' });
      }
    });

    const add = async (...some: Credential[]): Promise<Credential[]> => {
      for (const credential of some) await credentials.add(credential);
      return some;
    };
    const listed = (kind: Credential['kind'], now: Date, page?: Page) =>
      credentials.list({ accountId: account.id, kind, now }, page);
    const idsOf = (some: readonly Credential[]) => some.map(({ id }) => id);
    /** Returns the ids of all credentials of the accounts. */
    const left = async (...accounts: Account[]) => {
      const lists = accounts.flatMap(({ id: accountId }) =>
        (['session', 'api_key'] as const).map((kind) => credentials.list({ accountId, kind, now: at(0) })),
      );
      return (await Promise.all(lists)).flatMap(idsOf).sort();
    };

    it('lists the unexpired credentials of an account by kind, newest first, in pages', async () => {
      const odd = { name: 'CI “nightly”', origin: 'minted', expiresAt: at(9), lastUsedAt: at(1.5) } as const;
      const [first, expired, second, third] = await add(
        anApiKey(account, odd),
        anApiKey(account, { expiresAt: at(1) }),
        anApiKey(account),
        anApiKey(account),
      );
      const signedIn = { address: '192.0.2.7', userAgent: 'Firefox “nightly”' };
      const [session] = await add(aSession(account, signedIn), anApiKey(stranger));
      const keys = [third, second, first] as Credential[];
      const keysAt = (now: Date) => (page?: Page) => listed('api_key', now, page);
      await expectPages(keysAt(at(1)), keys);
      const minted = { accountId: account.id, kind: 'api_key', origin: 'minted', now: at(1) } as const;
      expect(idsOf(await credentials.list(minted))).toEqual(idsOf(keys.filter(({ origin }) => origin === 'minted')));
      expect(await keysAt(at(0))()).toEqual([third, second, expired, first]);
      expect(await listed('session', at(2))).toEqual([session]);
      await credentials.remove({ accountId: account.id, kind: 'api_key', id: (second as Credential).id });
      expect(await listed('api_key', at(1), { limit: 9, after: (second as Credential).id })).toEqual([first]);
    });

    const restricted = {
      projects: ['prj_1', 'prj_2'],
      permissions: ['chat', 'write'],
      requestsPerMinute: 60,
      tokensPerMinute: 1_000_000_000,
      maxConcurrent: 1,
    } as const;

    it('returns the restrictions of a key with its holder, and null for a key without any', async () => {
      const [key, free] = (await add(anApiKey(account, restricted), anApiKey(account))) as [Credential, Credential];
      expect(await credentials.holder(key.digest, at(1))).toMatchObject({ restrictions: restricted });
      const [again] = await credentials.holdersById([key.id], at(1));
      expect(again?.restrictions).toEqual(restricted);
      expect(await credentials.holder(free.digest, at(1))).toMatchObject({ restrictions: null });
      const one = { ...anApiKey(account), maxConcurrent: 3 };
      await add(one);
      const alone = { projects: null, permissions: null, requestsPerMinute: null, tokensPerMinute: null };
      expect((await credentials.holder(one.digest, at(1)))?.restrictions).toEqual({ ...alone, maxConcurrent: 3 });
    });

    it('finds a key by its account, kind and id until it expires', async () => {
      const [key] = (await add(anApiKey(account, { ...restricted, expiresAt: at(9) }))) as [Credential];
      const own = { accountId: account.id, kind: 'api_key', id: key.id } as const;
      expect(await credentials.find(own, at(8))).toEqual(key);
      expect(await credentials.find(own, at(9))).toBeNull();
      expect(await credentials.find({ ...own, kind: 'session' }, at(1))).toBeNull();
      expect(await credentials.find({ ...own, accountId: stranger.id }, at(1))).toBeNull();
    });

    it('replaces the name and the restrictions of the version that the caller has read, once', async () => {
      const [key, other] = (await add(anApiKey(account), anApiKey(account))) as [Credential, Credential];
      const next = { ...key, ...restricted, name: 'CI', version: 2 };
      const moved = { ...next, digest: 'another', accountId: stranger.id };
      const done = await atOnce(4, () => credentials.replace(key, moved));
      expect(done.filter((one) => one)).toHaveLength(1);
      expect(await listed('api_key', at(1))).toEqual([other, next]);
      expect(await credentials.replace(next, { ...key, version: 3 })).toBe(true);
      expect(await listed('api_key', at(1))).toEqual([other, { ...key, version: 3 }]);
    });

    it('stores the last use of the given credential only, at most once a minute', async () => {
      const [key, other] = (await add(anApiKey(account), anApiKey(account))) as [Credential, Credential];
      const noted = async ({ digest }: Credential) => (await credentials.holder(digest, at(1)))?.lastUsedAt;
      for (const [touched, then] of [
        [1, 1],
        [1.001, 1],
        [60.999, 1],
        [61, 61],
        [0, 61],
        [120.999, 61],
        [500, 500],
      ] as const) {
        await credentials.touch(key.id, at(touched));
        expect(await noted(key)).toEqual(at(then));
        expect(await listed('api_key', at(1))).toEqual([other, { ...key, lastUsedAt: at(then) }]);
      }
      expect(await noted(other)).toBeNull();
      await credentials.touch(ids.next('key'), at(1_000));
      expect(await left(account)).toEqual(idsOf([key, other]));
    });

    it('stores one of several concurrent uses', async () => {
      const [key] = (await add(anApiKey(account))) as [Credential];
      await atOnce(8, (party) => credentials.touch(key.id, at(party)));
      const lastUsedAt = (await credentials.holder(key.digest, at(1)))?.lastUsedAt as Date;
      expect(Array.from({ length: 8 }, (_, party) => at(party))).toContainEqual(lastUsedAt);
      await credentials.touch(key.id, new Date(lastUsedAt.getTime() + 59_999));
      expect(await credentials.holder(key.digest, at(1))).toMatchObject({ lastUsedAt });
    });

    it('removes a credential only by its account, kind and id, on every instance at once', async () => {
      const [key, foreign] = (await add(anApiKey(account), anApiKey(stranger))) as [Credential, Credential];
      const { id: accountId } = account;
      for (const [kind, id] of [
        ['session', key.id],
        ['api_key', foreign.id],
        ['api_key', ids.next('key')],
        ['api_key', ''],
      ] as const)
        expect(await credentials.remove({ accountId, kind, id })).toBe(false);
      expect(await left(account, stranger)).toEqual(idsOf([key, foreign]));
      const elsewhere = (await store.elsewhere()).credentials;
      const removed = await atOnce(8, () => credentials.remove(key));
      expect(removed.filter(Boolean)).toHaveLength(1);
      for (const instance of [credentials, elsewhere]) expect(await instance.holder(key.digest, at(1))).toBeNull();
      expect(await left(account, stranger)).toEqual([foreign.id]);
    });

    it.each<[string, { origins?: Credential['origin'][]; except?: boolean }, number[]]>([
      ['of a kind', {}, []],
      ['of some origins', { origins: ['registration', 'login'] }, [2]],
      ['of one origin', { origins: ['minted'] }, [0, 1]],
      ['of no origin', { origins: [] }, [0, 1, 2]],
      ['except one', { except: true }, [1]],
      ['of some origins except one', { origins: ['login', 'minted'], except: true }, [0, 1]],
    ])('ends the credentials of an account (%s), on all instances at once', async (_, { origins, except }, staying) => {
      const origin = (['registration', 'login', 'minted'] as const).map((one) => ({ origin: one }));
      const keys = await add(...origin.map((one) => anApiKey(account, one)));
      const others = await add(...origin.flatMap((one) => [aSession(account, one), anApiKey(stranger, one)]));
      const spared = keys[1] as Credential;
      const elsewhere = (await store.elsewhere()).credentials;
      await credentials.removeAll({
        accountId: account.id,
        kind: 'api_key',
        ...(origins && { origins }),
        ...(except && { except: spared.id }),
      });
      const stay = keys.filter((_, place) => staying.includes(place));
      expect(await left(account, stranger)).toEqual(idsOf([...stay, ...others]).sort());
      for (const key of keys) {
        const holder = await elsewhere.holder(key.digest, at(1));
        expect(holder === null).toBe(!stay.includes(key));
      }
    });
  });
}
