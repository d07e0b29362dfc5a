import { aKeptCall } from '../../support/kept-calls.js';
import { at } from '../../support/records.js';
import { type StoreUnderTest, stocked } from '../../support/repositories.js';

export function keptCallsContract(adapter: string, store: StoreUnderTest) {
  describe(`Kept calls in ${adapter}`, () => {
    it('are read together by their ids and by the ids in their answers', async () => {
      const { recordedCalls, project, otherProject, account } = await stocked(store);
      const add = async (...over: Parameters<typeof aKeptCall>) => {
        const call = aKeptCall(...over);
        await recordedCalls.add(call);
        return call;
      };
      const own = await add(project, account);
      const older = await add(project, account, { answerId: 'chatcmpl-1', createdAt: at(1) });
      const newer = await add(project, account, { answerId: 'chatcmpl-1', createdAt: at(3) });
      await add(project, account, { answerId: 'chatcmpl-1', createdAt: at(2) });
      const elsewhere = await add(otherProject, account, { answerId: 'chatcmpl-1', createdAt: at(9) });
      const expired = await add(project, account, { answerId: 'chatcmpl-2', expiresAt: at(0) });
      const some = async (...ids: string[]) =>
        (await recordedCalls.some(project.id, ids)).sort((one, other) => (one.id < other.id ? -1 : 1));
      expect(await some(own.id, 'chatcmpl-1')).toEqual([own, newer]);
      expect(await some(older.id, 'chatcmpl-1', older.id)).toEqual([older, newer]);
      expect(await some(elsewhere.id, expired.id, 'chatcmpl-2', 'job_unknown')).toEqual([]);
      expect(await some()).toEqual([]);
    });

    it('are found without their content, by the same names', async () => {
      const { recordedCalls, project, account, otherTeam } = await stocked(store);
      const calls = [1, 3, 2].map((time) => aKeptCall(project, account, { answerId: 'msg_1', createdAt: at(time) }));
      for (const one of calls) await recordedCalls.add(one);
      const expired = aKeptCall(project, account, { answerId: 'msg_2', expiresAt: at(0) });
      await recordedCalls.add(expired);
      const head = (id: string, team = project.teamId) => recordedCalls.locate(team, id);
      const [first, newest] = calls.map(({ id }) => ({ id, projectId: project.id }));
      expect(await head(first?.id ?? '')).toMatchObject(first ?? {});
      expect(await head('msg_1')).toMatchObject(newest ?? {});
      expect(await recordedCalls.find(project.teamId, 'msg_1')).toEqual(calls[1]);
      for (const id of [expired.id, 'msg_2', 'msg_3']) expect(await head(id)).toBeNull();
      expect(await head('msg_1', otherTeam.id)).toBeNull();
    });
  });
}
