import type { Team } from '../../../src/domain/accounts/account.js';
import { Invite } from '../../../src/domain/accounts/invite.js';
import { anInvite, aTeam, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function invitesContract(adapter: string, store: StoreUnderTest) {
  describe(`InviteRepository of ${adapter}`, () => {
    let invites: Repositories['invites'];
    let team: Team;
    let otherTeam: Team;

    beforeEach(async () => {
      const repositories = await store.open();
      ({ invites } = repositories);
      [team, otherTeam] = [aTeam(), aTeam()];
      for (const one of [team, otherTeam]) await repositories.teams.add(one);
    });

    const kept = async (over: Partial<Invite> = {}, of = team): Promise<Invite> => {
      const invite = anInvite(of, over);
      await invites.add(invite);
      return invite;
    };

    it.each<[string, Partial<Invite>]>([
      ['for anybody', {}],
      ['for one e-mail', { email: 'Ada.Müller@Example.COM', role: 'admin' }],
      ['with odd moments', { role: 'developer', createdAt: at(0.001), expiresAt: at(365 * 24 * 60 * 60 + 0.999) }],
      ['redeemed', { status: 'redeemed' }],
      ['revoked', { status: 'revoked' }],
      ['with any token', { token: 'tni_ä "🦆" \n\\0; --' }],
    ])('gives back exactly what was added, its token too: %s', async (_, over) => {
      const invite = await kept(over);
      for (const process of [invites, (await store.elsewhere()).invites]) {
        expect(await process.find(team.id, invite.id)).toEqual(invite);
        expect(await process.byDigest(invite.digest)).toEqual(invite);
      }
    });

    it('finds none by an unknown id, and none of another team', async () => {
      const { id } = await kept();
      for (const other of ['', ids.next('inv'), "' OR true --", 'x'.repeat(5_000)])
        expect(await invites.find(team.id, other)).toBeNull();
      for (const other of [otherTeam.id, ids.next('tea'), '']) expect(await invites.find(other, id)).toBeNull();
    });

    it('lists those of a team that are pending, newest first', async () => {
      const [first, second, third] = [anInvite(team), anInvite(team, { email: 'eve@example.com' }), anInvite(team)];
      for (const invite of [second, third, first]) await invites.add(invite);
      await kept({}, otherTeam);
      for (const status of ['redeemed', 'revoked'] as const) await kept({ status });
      expect(await invites.pending(team.id, at(1))).toEqual([third, second, first]);
      expect(await invites.pending(ids.next('tea'), at(1))).toEqual([]);
    });

    it('lists none from the very moment at which it expires', async () => {
      const [ends, stays] = [await kept({ expiresAt: at(60) }), await kept({ expiresAt: at(60.001) })];
      expect(await invites.pending(team.id, at(59.999))).toEqual([stays, ends]);
      expect(await invites.pending(team.id, at(60))).toEqual([stays]);
    });

    it('saves what has changed of one, and of no other', async () => {
      const [first, second, third] = [await kept(), await kept(), await kept()];
      const [redeemed, revoked] = [Invite.redeem(first, 'ada@example.com', at(1)), Invite.revoke(second, at(1))];
      for (const changed of [redeemed, revoked]) await invites.save(changed);
      for (const one of [redeemed, revoked, third]) {
        expect(await invites.find(team.id, one.id)).toEqual(one);
        expect(await invites.byDigest(one.digest)).toEqual(one);
      }
      expect(await invites.pending(team.id, at(1))).toEqual([third]);
    });

    it('makes no invite by saving one that it does not know', async () => {
      const invite = anInvite(team);
      await invites.save(invite);
      expect(await invites.byDigest(invite.digest)).toBeNull();
    });

    it('revokes all that one account has pending, and no other', async () => {
      const own = [await kept({ invitedBy: 'usr_2' }), await kept({ invitedBy: 'usr_2' })];
      const redeemed = await kept({ invitedBy: 'usr_2', status: 'redeemed' });
      const others = await kept({ invitedBy: 'usr_3' });
      await invites.revokeAllBy('usr_2');
      for (const invite of own) expect(await invites.byDigest(invite.digest)).toEqual({ ...invite, status: 'revoked' });
      for (const invite of [redeemed, others]) expect(await invites.byDigest(invite.digest)).toEqual(invite);
    });
  });
}
