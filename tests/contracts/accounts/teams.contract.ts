import { atOnce, barrier } from '../../support/barrier.js';
import { aTeam, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function teamsContract(adapter: string, store: StoreUnderTest) {
  describe(`Teams kept by ${adapter}`, () => {
    let teams: Repositories['teams'];
    let unitOfWork: Repositories['unitOfWork'];
    beforeEach(async () => {
      ({ teams, unitOfWork } = await store.open());
    });

    it('has no operator before the first is added', async () => {
      expect(await teams.operator()).toBeNull();
      await teams.add(aTeam());
      expect(await teams.operator()).toBeNull();
    });

    it('knows the operator among other teams', async () => {
      const operator = aTeam({ operator: true, createdAt: at(0.001) });
      for (const team of [aTeam(), operator, aTeam()]) await teams.add(team);
      expect(await teams.operator()).toEqual(operator);
    });

    it('gives back exactly the team that was added', async () => {
      const [operator, stranger] = [aTeam({ operator: true }), aTeam({ siteKey: 'team:acme', createdAt: at(0.001) })];
      for (const team of [operator, stranger]) await teams.add(team);
      expect(await teams.byId(operator.id)).toEqual(operator);
      expect(await teams.byId(stranger.id)).toEqual(stranger);
    });

    it('knows no team that was not added', async () => {
      await teams.add(aTeam());
      for (const id of ['', ids.next('tea'), "' OR true --", 'x'.repeat(5_000)])
        expect(await teams.byId(id)).toBeNull();
    });

    it('finds the team that stands for one of the embedding site, by exactly its key', async () => {
      const team = aTeam({ siteKey: 'team:Åcme "1"; --' });
      for (const one of [aTeam(), team, aTeam({ siteKey: 'team:acme' })]) await teams.add(one);
      expect(await teams.bySiteKey('team:Åcme "1"; --')).toEqual(team);
      for (const key of ['', 'null', 'team:åcme "1"; --', 'team:Åcme "1"; -- ', 'account:acme', 'team:%'])
        expect(await teams.bySiteKey(key)).toBeNull();
    });

    it('comes to one team for a team of the site, however many would add it at once', async () => {
      const parties = 8;
      const siteKey = 'team:acme';
      const allHaveLooked = barrier(parties);
      const found = async () => {
        const known = await teams.bySiteKey(siteKey);
        await allHaveLooked();
        if (known) return known;
        const team = aTeam({ siteKey });
        await teams.add(team);
        return team;
      };
      const seen = await atOnce(parties, () => unitOfWork.run(found));
      expect(seen).toEqual(Array(parties).fill(await teams.bySiteKey(siteKey)));
    });

    it('comes to one operator, however many would found it at once', async () => {
      const parties = 8;
      const allHaveLooked = barrier(parties);
      const found = async () => {
        const operator = await teams.operator();
        await allHaveLooked();
        if (operator) return operator;
        const team = aTeam({ operator: true });
        await teams.add(team);
        return team;
      };
      const seen = await atOnce(parties, () => unitOfWork.run(found));
      const operator = await teams.operator();
      expect(seen).toEqual(Array(parties).fill(operator));
    });
  });
}
