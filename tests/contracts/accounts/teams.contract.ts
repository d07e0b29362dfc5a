import type { Team } from '../../../src/domain/accounts/account.js';
import { race } from '../../support/barrier.js';
import { aTeam, at } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function teamsContract(adapter: string, store: StoreUnderTest) {
  describe(`TeamRepository of ${adapter}`, () => {
    let teams: Repositories['teams'];
    let unitOfWork: Repositories['unitOfWork'];
    beforeEach(async () => {
      ({ teams, unitOfWork } = await store.open());
    });

    it('returns a team exactly as it was added, and finds the operator team', async () => {
      const stranger = aTeam({ siteKey: 'team:acme', createdAt: at(0.001) });
      await teams.add(stranger);
      expect(await teams.operator()).toBeNull();
      const operator = aTeam({ operator: true });
      for (const team of [operator, aTeam()]) await teams.add(team);
      expect(await teams.operator()).toEqual(operator);
      for (const team of [operator, stranger]) expect(await teams.byId(team.id)).toEqual(team);
    });

    it('finds by its exact site key the team that stands for a team of the embedding site', async () => {
      const team = aTeam({ siteKey: 'team:Åcme "1"; --' });
      for (const one of [aTeam(), team, aTeam({ siteKey: 'team:acme' })]) await teams.add(one);
      expect(await teams.bySiteKey('team:Åcme "1"; --')).toEqual(team);
      for (const key of ['', 'null', 'team:åcme "1"; --', 'team:Åcme "1"; -- ', 'account:acme', 'team:%'])
        expect(await teams.bySiteKey(key)).toBeNull();
    });

    it.each<[string, Partial<Team>]>([
      ['team of the site', { siteKey: 'team:acme' }],
      ['operator team', { operator: true }],
    ])('stores only one %s if several callers add it at once', async (_, kind) => {
      const known = () => (kind.siteKey ? teams.bySiteKey(kind.siteKey) : teams.operator());
      const found = async (existing: Team | null) => {
        const team = existing ?? aTeam(kind);
        if (!existing) await teams.add(team);
        return team;
      };
      const seen = await race(8, known, found, (steps) => unitOfWork.run(steps));
      expect(seen).toEqual(Array(8).fill(await known()));
    });
  });
}
