import type { Team } from '../../../src/domain/accounts/account.js';
import { Invite } from '../../../src/domain/accounts/invite.js';
import { anInvite, at, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

export function invitesContract(adapter: string, store: StoreUnderTest) {
  describe(`InviteRepository of ${adapter}`, () => {
    let invites: StockedStore['invites'];
    let team: Team;
    let otherTeam: Team;
    beforeEach(async () => {
      ({ invites, team, otherTeam } = await stocked(store));
    });

    const add = async (over: Partial<Invite> = {}, owner = team): Promise<Invite> => {
      const invite = anInvite(owner, over);
      await invites.add(invite);
      return invite;
    };

    it('returns an invite exactly as it was added, with its token', async () => {
      const overs: Partial<Invite>[] = [
        { email: 'Ada.Müller@Example.COM', role: 'admin' },
        { role: 'developer', createdAt: at(0.001), expiresAt: at(365 * 24 * 60 * 60 + 0.999) },
        { status: 'redeemed' },
        { status: 'revoked' },
        { token: 'tni_ä "🦆" \n\\0; --' },
      ];
      for (const over of [{}, ...overs]) {
        const invite = await add(over);
        for (const instance of [invites, (await store.elsewhere()).invites]) {
          expect(await instance.find(team.id, invite.id)).toEqual(invite);
          expect(await instance.byDigest(invite.digest)).toEqual(invite);
        }
      }
    });

    it('finds no invite by an unknown id or of another team', async () => {
      const { id } = await add();
      for (const other of ['', ids.next('inv'), "' OR true --", 'x'.repeat(5_000)])
        expect(await invites.find(team.id, other)).toBeNull();
      for (const other of [otherTeam.id, ids.next('tea'), '']) expect(await invites.find(other, id)).toBeNull();
    });

    it('lists the pending and unexpired invites of a team, newest first, and counts them', async () => {
      const [first, second] = [await add({ expiresAt: at(60.001) }), await add({ expiresAt: at(60) })];
      await add({}, otherTeam);
      for (const status of ['redeemed', 'revoked'] as const) await add({ status });
      expect(await invites.pending(team.id, at(59.999))).toEqual([second, first]);
      expect(await invites.pending(team.id, at(60))).toEqual([first]);
      expect(await invites.countPending(team.id, at(59.999))).toBe(2);
      expect(await invites.countPending(team.id, at(60))).toBe(1);
      expect(await invites.pending(ids.next('tea'), at(1))).toEqual([]);
    });

    it('saves changes of the given invite only, and ignores an unknown invite', async () => {
      const [first, second, third] = [await add(), await add(), await add()];
      const [redeemed, revoked] = [Invite.redeem(first, 'ada@example.com', at(1)), Invite.revoke(second, at(1))];
      for (const changed of [redeemed, revoked]) await invites.save(changed);
      for (const one of [redeemed, revoked, third]) {
        expect(await invites.find(team.id, one.id)).toEqual(one);
        expect(await invites.byDigest(one.digest)).toEqual(one);
      }
      expect(await invites.pending(team.id, at(1))).toEqual([third]);
      const unknown = anInvite(team);
      await invites.save(unknown);
      expect(await invites.byDigest(unknown.digest)).toBeNull();
    });

    it('revokes all pending invites of an account, and no others', async () => {
      const own = [await add({ invitedBy: 'usr_2' }), await add({ invitedBy: 'usr_2' })];
      const redeemed = await add({ invitedBy: 'usr_2', status: 'redeemed' });
      const others = await add({ invitedBy: 'usr_3' });
      await invites.revokeAllBy('usr_2');
      for (const invite of own) expect(await invites.byDigest(invite.digest)).toEqual({ ...invite, status: 'revoked' });
      for (const invite of [redeemed, others]) expect(await invites.byDigest(invite.digest)).toEqual(invite);
    });
  });
}
