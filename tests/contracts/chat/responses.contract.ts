import type { Response } from '../../../src/domain/chat/response.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { race } from '../../support/barrier.js';
import { anAccount, aProject, aResponse, at, ids } from '../../support/records.js';
import { type Repositories, type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

const failure = { code: 'model_busy', message: 'Busy', isBusy: true };
const output = [{ kind: 'text', index: 0, text: 'Paris \u{1F986} \ud800' }] as const;
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 2 };

export function responsesContract(adapter: string, store: StoreUnderTest) {
  describe(`Responses in ${adapter}`, () => {
    let stock: StockedStore;
    let responses: StockedStore['responses'];
    let project: Project;
    beforeEach(async () => {
      stock = await stocked(store);
      ({ responses, project } = stock);
    });

    const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: null, temperature: null } as const;
    const add = async (over: Partial<Response> = {}) => {
      const response = aResponse(project, stock.account, over);
      const { accountId, projectId } = response;
      const isOpen = response.status === 'queued';
      await responses.add(response, isOpen ? { accountId, projectId, request, keyId: 'key_1' } : null);
      return response;
    };
    const open = () => add({ status: 'queued', background: true });
    const running = async () => {
      const response = await open();
      return { response, run: (await responses.begin(response.id)) as number };
    };
    const othersThan = ({ id, accountId }: Response) => [
      { id, accountId: stock.colleague.id },
      { id: ids.next('resp'), accountId },
    ];
    const textsOf = async (id: string, after = 0, limit = 9) =>
      (await responses.batches(id, after, limit)).map(({ number, parts }) => [number, parts.map(({ text }) => text)]);

    it('returns a response exactly as it was added, to its account, on every instance', async () => {
      const response = await add({
        status: 'failed',
        failure,
        usage,
        output,
        previousId: 'resp_1',
        repeated: { model: 'm', metadata: { 'é\u2028': [null, 1.5] } },
        messages: [{ role: 'user', content: 'Hi', parts: [{ imageUrl: 'data:x' }] }],
        finishedAt: at(3),
      });
      for (const instance of [responses, (await store.elsewhere()).responses]) {
        expect(await instance.find(response)).toEqual(response);
        expect(await instance.ofIds(response.accountId, [response.id, 'resp_2'])).toEqual([response]);
        const head = await instance.head(response);
        expect(head).toEqual({
          ...{ id: response.id, previousId: 'resp_1', status: 'failed', background: false, hasBegun: false },
          bytes: expect.any(Number),
        });
        expect(await instance.sizes(response.accountId, [response.id, 'resp_2'])).toEqual([head?.bytes]);
        expect(await instance.sizes(stock.colleague.id, [response.id])).toEqual([]);
      }
      for (const other of othersThan(response)) {
        expect([await responses.find(other), await responses.head(other)]).toEqual([null, null]);
        expect(await responses.ofIds(other.accountId, [other.id])).toEqual([]);
      }
    });

    it('refuses a response of a project or an account that does not exist', async () => {
      const orphans = [aResponse(aProject(stock.team), stock.account), aResponse(project, anAccount(stock.team))];
      for (const orphan of orphans)
        await expect(responses.add(orphan, null)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('is deleted with its project, its account, and by its key', async () => {
      const ofProject = await add();
      const removed = await running();
      await responses.append(removed.response.id, removed.run, [{ text: 'a' }]);
      for (const other of othersThan(removed.response)) expect(await responses.remove(other)).toBe(false);
      expect(await responses.remove(removed.response)).toBe(true);
      expect(await responses.remove(removed.response)).toBe(false);
      expect(await responses.batches(removed.response.id, 0, 9)).toEqual([]);
      await stock.projects.remove(project);
      expect(await responses.find(ofProject)).toBeNull();
      const other = aResponse(stock.otherProject, stock.account);
      await responses.add(other, null);
      await stock.accounts.remove(stock.account.id);
      expect(await responses.find(other)).toBeNull();
    });

    it('finds the responses before, oldest first', async () => {
      const first = await add();
      const second = await add({ previousId: first.id });
      const third = await add({ previousId: second.id });
      await add({ previousId: second.id });
      const idsOf = async (key: Response, limit = 9) => (await responses.lineage(key, limit)).map(({ id }) => id);
      expect(await idsOf(third)).toEqual([first.id, second.id, third.id]);
      expect(await idsOf(third, 2)).toEqual([second.id, third.id]);
      expect(await idsOf({ ...third, accountId: stock.colleague.id })).toEqual([]);
      await responses.remove(first);
      expect((await responses.lineage(third, 9))[0]).toMatchObject({ id: second.id, previousId: first.id });
    });

    it('stores the parts of the latest run of an open response, without a gap', async () => {
      const { response, run } = await running();
      const { id } = response;
      expect((await responses.find(response))?.status).toBe('in_progress');
      expect(await responses.task(id)).toMatchObject({ request, keyId: 'key_1' });
      expect(await responses.taskBytes(id)).toBeGreaterThan(0);
      expect(await responses.append(id, run, [{ text: 'a' }, { text: 'b', anew: true }])).toBe(true);
      expect(await responses.append(id, run, [{ text: 'c' }])).toBe(true);
      expect(await textsOf(id)).toEqual([
        [1, ['a', 'b']],
        [2, ['c']],
      ]);
      const later = (await responses.begin(id)) as number;
      expect(await responses.append(id, run, [{ text: 'x' }])).toBe(false);
      expect(await responses.finish(id, run, { status: 'completed', output, usage, failure: null }, at(1))).toBe(false);
      expect(await responses.append(id, later, [{ text: 'd' }])).toBe(true);
      expect(await textsOf(id, 1, 1)).toEqual([[2, ['c']]]);
      expect(await textsOf(id, 2)).toEqual([[3, ['d']]]);
    });

    it('ends an open response once', async () => {
      const { response, run } = await running();
      const { id } = response;
      expect(await responses.finish(id, run, { status: 'completed', output, usage, failure: null }, at(5))).toBe(true);
      const ended = { ...response, status: 'completed', output, usage, finishedAt: at(5) };
      expect(await responses.find(response)).toEqual(ended);
      expect(await responses.finish(id, run, { status: 'failed', output: [], usage, failure }, at(6))).toBe(false);
      expect(await responses.append(id, run, [{ text: 'x' }])).toBe(false);
      expect(await responses.cancel(response, at(6))).toBe(false);
      expect([await responses.begin(id), await responses.task(id), await responses.taskBytes(id)]).toEqual([
        null,
        null,
        null,
      ]);
      expect(await responses.find(response)).toEqual(ended);
    });

    it('cancels an open response of the account, once', async () => {
      const response = await open();
      for (const other of othersThan(response)) expect(await responses.cancel(other, at(1))).toBe(false);
      expect(await responses.cancel(response, at(1))).toBe(true);
      expect(await responses.cancel(response, at(2))).toBe(false);
      await responses.replaceOutput(response, output);
      expect(await responses.find(response)).toEqual({ ...response, status: 'cancelled', output, finishedAt: at(1) });
    });

    it('has one end when it is finished and cancelled at the same time', async () => {
      const { response, run } = await running();
      const instances = [stock, await store.elsewhere()] as const;
      const on = (party: number) => (instances[party % 2] as Repositories).responses;
      const ended = await race(
        4,
        (party) => on(party).find(response),
        (_, party) =>
          party % 2
            ? on(party).cancel(response, at(1))
            : on(party).finish(response.id, run, { status: 'completed', output, usage, failure: null }, at(1)),
      );
      expect(ended.filter(Boolean)).toHaveLength(1);
    });

    it('counts for the quota of its account, with its parts', async () => {
      const measured = async (accountId = stock.account.id) =>
        (await stock.storageMeter.measure({ teamId: null, accountId }, ['responseBytes'])).responseBytes;
      expect(await measured()).toBe(0);
      const { response, run } = await running();
      const first = await measured();
      expect(first).toBeGreaterThan(200);
      await responses.append(response.id, run, [{ text: 'x'.repeat(1_000) }]);
      expect(await measured()).toBeGreaterThan(first + 1_000);
      expect(await measured()).toBeLessThan(first + 1_500);
      expect(await measured(stock.colleague.id)).toBe(0);
      await responses.remove(response);
      expect(await measured()).toBe(0);
    });
  });
}
