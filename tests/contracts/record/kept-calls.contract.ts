import { setTimeout as sleep } from 'node:timers/promises';
import type { CallFilter, NamedCall } from '../../../src/application/record/ports.js';
import { CallPlace } from '../../../src/domain/record/call-place.js';
import type { Feedback } from '../../../src/domain/record/feedback.js';
import type { KeptCall } from '../../../src/domain/record/kept-call.js';
import { aCallOf, keep } from '../../support/kept-calls.js';
import { anAccount, aProject, at, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

const DAY_S = 86_400;

export function keptCallsContract(adapter: string, store: StoreUnderTest) {
  describe(`Kept calls in ${adapter}`, () => {
    let stock: StockedStore;
    let calls: StockedStore['keptCalls'];
    beforeEach(async () => {
      stock = await stocked(store);
      calls = stock.keptCalls;
    });

    const named = (id: string, over: Partial<NamedCall> = {}): NamedCall => ({
      ...{ teamId: stock.team.id, id, projectIds: null, accountId: null },
      ...over,
    });
    const add = async (over: Partial<KeptCall> = {}): Promise<KeptCall> => {
      const call = aCallOf(stock.project, stock.account, over);
      await keep(stock, call);
      return call;
    };
    const saying = (text: string, said: string | null = null, over: Partial<KeptCall> = {}) =>
      add({
        content: 'full',
        request: { messages: [{ role: 'user', content: text }] },
        answer: said === null ? null : { content: said },
        ...over,
      });
    const filter = (over: Partial<CallFilter> = {}): CallFilter => ({
      ...{ projectId: stock.project.id, since: null, until: null, modelId: null, keyId: null, accountId: null },
      ...{ status: null, score: null, label: null, q: null },
      ...over,
    });
    const ofList = async (over: Partial<CallFilter> = {}, page = { limit: 1_000, after: null as string | null }) => {
      const places = (await calls.sizes(filter(over), page)).map(({ id }) => id);
      const listed = places.map((place) => CallPlace.of(place).id);
      const read = await calls.read(listed.toReversed());
      expect(read.map(CallPlace.textOf)).toEqual(places);
      return listed;
    };
    const idsOf = (...some: KeptCall[]) => some.map(({ id }) => id);
    const say = async (call: KeptCall, over: Partial<Feedback> = {}) => {
      const about = { callId: call.id, projectId: call.projectId, accountId: stock.account.id, keyId: null };
      const said = { score: null, label: null, comment: null, correction: null, createdAt: at(9), isCurrent: true };
      await stock.feedback.add({ id: ids.next('fbk'), ...about, ...said, ...over });
    };

    it('returns a call exactly as it was added, on every instance', async () => {
      const usage = {
        ...{ keyId: 'key_1', tokensIn: 27, tokensOut: 7, firstToken: 0.5, failure: null },
        attempts: [{ modelId: 'mdl_1', outcome: 'answered', ms: 7 }],
      };
      const content = { request: { messages: [{ content: '"\\ \u{1F986} Ä \u2028' }] }, answer: { content: 'Paris' } };
      const kept = await add({
        ...content,
        content: 'full',
        usage,
        cost: '0.000123400',
        truncated: true,
        keyId: 'key_1',
      });
      const bare = await add({ answerId: null, startedAt: null, createdAt: at(1) });
      for (const { keptCalls } of [stock, await store.elsewhere()]) {
        for (const call of [kept, bare]) expect(await keptCalls.find(named(call.id))).toEqual(call);
        expect(await keptCalls.read([kept.id, 'job_unknown', bare.id])).toEqual([bare, kept]);
      }
    });

    it('measures the content', async () => {
      const { id, request, answer } = await saying('Hüh', 'Hott');
      const bytes = Buffer.byteLength(JSON.stringify(request)) + Buffer.byteLength(JSON.stringify(answer));
      expect((await calls.sizes(filter(), { limit: 9, after: null })).map((one) => one.bytes)).toEqual([bytes]);
      const { project, account } = stock;
      const located = { id, projectId: project.id, accountId: account.id, bytes };
      expect(await calls.locate(named(id))).toEqual(located);
    });

    it('stores a call once, and no call of a project or an account that is gone', async () => {
      const call = await add();
      expect(await keep(stock, { ...call, truncated: true })).toBe(false);
      expect(await calls.find(named(call.id))).toEqual(call);
      const others = [aCallOf(aProject(stock.team), stock.account), aCallOf(stock.project, anAccount(stock.team))];
      for (const other of others) {
        await keep(stock, other);
        expect(await calls.find(named(other.id))).toBeNull();
      }
    });

    it('never keeps the end of a call from being stored', async () => {
      const call = aCallOf(stock.project, stock.account);
      const beside = [1, 2, 3].map(() => aCallOf(stock.project, stock.account, { content: 'full', request: {} }));
      const words = Array.from({ length: 40_000 }, (_, n) => `${n}-a${n * 7}-b${n * 13}-c${n * 17}`).join(' ');
      const stored = [...beside.map((one) => keep(stock, one)), keep(stock, call, { searched: words })];
      expect(await Promise.all(stored)).toEqual([true, true, true, true]);
      expect(await stock.jobs.find(call.id)).toMatchObject({ status: 'succeeded' });
      expect(await calls.find(named(call.id))).toBeNull();
      for (const one of beside) expect(await calls.find(named(one.id))).toEqual(one);
    });

    it('returns several calls of a project by their ids and by the ids in their answers', async () => {
      const own = await add();
      const older = await add({ answerId: 'chatcmpl-1', createdAt: at(1) });
      const newer = await add({ answerId: 'chatcmpl-1', createdAt: at(3) });
      await add({ answerId: 'chatcmpl-1', createdAt: at(2) });
      const elsewhere = aCallOf(stock.otherProject, stock.account, { answerId: 'chatcmpl-1', createdAt: at(9) });
      await keep(stock, elsewhere);
      const expired = await add({ answerId: 'chatcmpl-2', expiresAt: at(0) });
      const some = async (...names: string[]) => new Set(idsOf(...(await calls.some(stock.project.id, names))));
      expect(await some(own.id, 'chatcmpl-1')).toEqual(new Set([own.id, newer.id]));
      expect(await some(older.id, 'chatcmpl-1', older.id)).toEqual(new Set([older.id, newer.id]));
      expect(await some(elsewhere.id, expired.id, 'chatcmpl-2', 'job_unknown')).toEqual(new Set());
      expect(await some()).toEqual(new Set());
    });

    it('finds a call of the team by its id, the id of its answer, and an item of its answer', async () => {
      const uuid = '0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
      const older = await add({ answerId: 'chatcmpl-1' });
      const newer = await add({ answerId: 'chatcmpl-1', createdAt: at(1) });
      const response = await add({ answerId: `resp_${uuid}` });
      const message = await add({ answerId: `msg_${uuid}` });
      const found = async (id: string, over: Partial<NamedCall> = {}) => {
        const one = (await calls.find(named(id, over)))?.id ?? null;
        expect((await calls.locate(named(id, over)))?.id ?? null).toBe(one);
        return one;
      };
      expect(await found(older.id)).toBe(older.id);
      expect(await found('chatcmpl-1')).toBe(newer.id);
      expect(await found(`resp_${uuid}`)).toBe(response.id);
      expect(await found(`msg_${uuid}`)).toBe(message.id);
      for (const item of [`msg_${uuid}-0`, `fc_${uuid}-12`, `rs_${uuid}-1`])
        expect(await found(item)).toBe(response.id);
      for (const unknown of ['', 'chatcmpl-2', ids.next('job'), `msg_${uuid}-`])
        expect(await found(unknown)).toBeNull();
      expect(await found(older.id, { teamId: stock.otherTeam.id })).toBeNull();
      expect(await found('chatcmpl-1', { teamId: stock.otherTeam.id })).toBeNull();
    });

    it('finds the newest call with an id among those of some projects and of an account', async () => {
      const answerId = 'chatcmpl-1';
      const own = await add({ answerId });
      const ofColleague = await add({ answerId, accountId: stock.colleague.id, createdAt: at(1) });
      const elsewhere = await add({ answerId, projectId: stock.otherProject.id, createdAt: at(2) });
      const found = async (over: Partial<NamedCall>, id = answerId) => {
        const one = (await calls.find(named(id, over)))?.id ?? null;
        expect((await calls.locate(named(id, over)))?.id ?? null).toBe(one);
        return one;
      };
      expect(await found({})).toBe(elsewhere.id);
      expect(await found({ projectIds: [stock.project.id] })).toBe(ofColleague.id);
      expect(await found({ projectIds: [stock.project.id, stock.otherProject.id] })).toBe(elsewhere.id);
      expect(await found({ projectIds: [stock.project.id], accountId: stock.account.id })).toBe(own.id);
      expect(await found({ projectIds: [] })).toBeNull();
      expect(await found({ projectIds: [stock.project.id] }, elsewhere.id)).toBeNull();
      expect(await found({ accountId: stock.account.id }, ofColleague.id)).toBeNull();
    });

    it('lists the calls of a project, the newest first, with the ids in order, in pages', async () => {
      const times = [0, 3, 3, 3, 7 * DAY_S, 100 * DAY_S];
      const all: KeptCall[] = [];
      for (const seconds of times) all.unshift(await add({ createdAt: at(seconds), modelId: 'mdl_1' }));
      await add({ projectId: stock.otherProject.id, modelId: 'mdl_1' });
      for (const over of [{}, { modelId: 'mdl_1' }, { accountId: stock.account.id }]) {
        expect(await ofList(over)).toEqual(idsOf(...all));
        for (const [n, call] of all.entries()) {
          const rest = idsOf(...all.slice(n + 1));
          expect(await ofList(over, { limit: 9, after: CallPlace.textOf(call) })).toEqual(rest);
          expect(await ofList(over, { limit: 2, after: CallPlace.textOf(call) })).toEqual(rest.slice(0, 2));
        }
      }
      const [, , third, ...others] = all as [KeptCall, KeptCall, KeptCall, ...KeptCall[]];
      await calls.remove(third.id);
      for (const over of [{}, { modelId: 'mdl_1' }])
        expect(await ofList(over, { limit: 9, after: CallPlace.textOf(third) })).toEqual(idsOf(...others));
    });

    it('lists calls from a time on and before a time', async () => {
      const [first, second, third] = [
        await add({ createdAt: at(0) }),
        await add({ createdAt: at(1) }),
        await add({ createdAt: at(2) }),
      ];
      for (const call of [first, second, third]) await say(call, { score: 1 });
      const inside = { since: at(1), until: at(2) };
      for (const more of [{}, { score: 1 }, { modelId: second.modelId }]) {
        expect(await ofList({ ...inside, ...more })).toEqual([second.id]);
        expect(await ofList({ since: at(1), ...more })).toEqual([third.id, second.id]);
        expect(await ofList({ until: at(1), ...more })).toEqual([first.id]);
        expect(await ofList({ since: at(2), until: at(1), ...more })).toEqual([]);
        expect(await ofList({ since: new Date(0), until: new Date(1e14), ...more })).toHaveLength(3);
      }
    });

    it('lists nothing of a project without calls, at any time', async () => {
      for (const q of [null, 'word'])
        for (const over of [{}, { since: new Date(0), until: new Date(1e14) }])
          expect(await ofList({ q, ...over })).toEqual([]);
    });

    it('lists exactly the calls with a model, a key, an account, a status, and with all of them', async () => {
      const wanted = { modelId: 'mdl_1', keyId: 'key_1', accountId: stock.account.id, status: 'failed' as const };
      const others = { modelId: 'mdl_2', keyId: null, accountId: stock.colleague.id, status: 'succeeded' as const };
      const both = await add(wanted);
      await add(others);
      for (const name of ['modelId', 'keyId', 'accountId', 'status'] as const) {
        const one = await add({ ...others, [name]: wanted[name], createdAt: at(1) });
        expect(await ofList({ [name]: wanted[name] })).toEqual(idsOf(one, both));
        expect(await ofList(wanted)).toEqual([both.id]);
      }
      expect(await ofList({ accountId: stock.colleague.id, status: 'failed' })).toHaveLength(1);
      expect(await ofList({ status: 'cancelled' })).toEqual([]);
      for (const modelId of ['', "'", '\\', 'mdl_1 | mdl_2', "mdl_1' | 'm mdl_2"])
        expect(await ofList({ modelId })).toEqual([]);
    });

    it('lists calls with a score or a label in a current feedback, each call once', async () => {
      const [first, second, third] = [await add(), await add({ createdAt: at(1) }), await add({ createdAt: at(2) })];
      await say(first, { score: 1, label: 'good' });
      await say(first, { score: 1, label: 'short', accountId: stock.colleague.id });
      await say(second, { score: 1, label: 'bad' });
      await say(second, { score: 0.5, label: 'good' });
      await say(third, { score: 1 });
      expect(await ofList({ score: 1 })).toEqual([third.id, first.id]);
      expect(await ofList({ score: 1 }, { limit: 1, after: CallPlace.textOf(third) })).toEqual([first.id]);
      expect(await ofList({ score: 0.5 })).toEqual([second.id]);
      expect(await ofList({ score: 0 })).toEqual([]);
      expect(await ofList({ label: 'good' })).toEqual([second.id, first.id]);
      expect(await ofList({ label: 'bad' })).toEqual([]);
      expect(await ofList({ score: 1, label: 'short' })).toEqual([first.id]);
      expect(await ofList({ score: 0.5, accountId: stock.colleague.id })).toEqual([]);
    });

    it('finds calls with all words, in upper or lower case, in the request or the answer', async () => {
      const first = await saying('Where is the ÄPFEL-tree of Zoé?', 'In the garden: 42 steps.');
      const second = await saying('Where is it?', 'Far away.', { createdAt: at(40 * DAY_S), modelId: 'mdl_2' });
      await add({ createdAt: at(2) });
      await saying('Where is the garden?', null, { projectId: stock.otherProject.id });
      expect(await ofList({ q: 'WHERE' })).toEqual([second.id, first.id]);
      expect(await ofList({ q: 'where garden' })).toEqual([first.id]);
      expect(await ofList({ q: 'äpfel' })).toEqual([first.id]);
      expect(await ofList({ q: 'äpfel-tree' })).toEqual([first.id]);
      expect(await ofList({ q: 'ZOÉ, 42!' })).toEqual([first.id]);
      expect(await ofList({ q: "' | where & !" })).toEqual([second.id, first.id]);
      expect(await ofList({ q: 'where', modelId: 'mdl_2' })).toEqual([second.id]);
      expect(await ofList({ q: 'where', until: at(1) })).toEqual([first.id]);
      expect(await ofList({ q: 'where' }, { limit: 1, after: CallPlace.textOf(second) })).toEqual([first.id]);
      const none = ['gard', 'where mountain', 'user', '?!', 's succeeded', `t17 0 ${stock.project.id}`, '\0'];
      for (const q of none) expect([q, await ofList({ q })]).toEqual([q, []]);
      await say(first, { score: -1 });
      expect(await ofList({ q: 'where', score: -1 })).toEqual([first.id]);
      expect(await ofList({ q: 'away', score: -1 })).toEqual([]);
    });

    it('lists many calls of a long time ago in order, with a filter', async () => {
      const newest = await saying('many words', null, { createdAt: at(40 * DAY_S) });
      const seconds = Array.from({ length: 250 }, (_, n) => n * 97);
      const old = await Promise.all(seconds.map((n) => saying('many words', null, { createdAt: at(n) })));
      const all = idsOf(newest, ...old.toReversed());
      for (const over of [{ q: 'many' }, { modelId: 'mdl_1' }, { q: 'words', accountId: stock.account.id }]) {
        expect(await ofList(over)).toEqual(all);
        const after = CallPlace.textOf(old[101] as KeptCall);
        expect(await ofList(over, { limit: 90, after })).toEqual(all.slice(150, 240));
        expect(await ofList({ ...over, since: at(970), until: at(9_700) })).toEqual(all.slice(151, 241));
      }
    });

    it('stores and finds very long texts', async () => {
      const words = Array.from({ length: 90_000 }, (_, n) => String.fromCharCode(0x3400 + (n % 20_000))).join(' ');
      const call = await saying(`${words} wood`, `${'😀'.repeat(50_000)} ${'x'.repeat(60_000)}`);
      expect(await ofList({ q: '㐀 㐁' })).toEqual([call.id]);
      expect((await calls.find(named(call.id)))?.request).toEqual(call.request);
    });

    it('does not find expired calls', async () => {
      const call = await saying('hello', null, { expiresAt: new Date(Date.now() - 1) });
      await say(call, { score: 1 });
      for (const over of [{}, { q: 'hello' }, { score: 1 }, { modelId: call.modelId }])
        expect(await ofList(over)).toEqual([]);
      expect(await calls.find(named(call.id))).toBeNull();
      expect(await calls.locate(named(call.id))).toBeNull();
    });

    it('removes a call with its feedback', async () => {
      const [call, other] = [await add(), await add()];
      for (const one of [call, other]) await say(one, { score: 1 });
      expect([await calls.remove(call.id), await calls.remove(call.id)]).toEqual([true, false]);
      expect(await ofList()).toEqual([other.id]);
      const left = await stock.feedback.ofCalls([call.id, other.id]);
      expect(left.map(({ callId }) => callId)).toEqual([other.id]);
    });

    it('removes some calls of a project or an account', async () => {
      for (let n = 0; n < 3; n++) await say(await add(), { score: 1 });
      await add({ accountId: stock.colleague.id });
      const elsewhere = await add({ projectId: stock.otherProject.id });
      expect(await calls.removeSome({ accountId: stock.colleague.id }, 2)).toBe(1);
      expect(await calls.removeSome({ projectId: stock.project.id }, 2)).toBe(2);
      expect(await ofList()).toHaveLength(1);
      expect(await calls.removeSome({ projectId: stock.project.id }, 2)).toBe(1);
      expect(await ofList({ projectId: stock.otherProject.id })).toEqual([elsewhere.id]);
    });

    it('hides the calls of a project or an account that is gone, and still removes them', async () => {
      const of = { answerId: 'chatcmpl-1', keyId: 'key_1' };
      const own = await saying('Where?', null, { ...of, createdAt: at(1) });
      const gone = await saying('Where?', null, { ...of, accountId: stock.colleague.id, createdAt: at(2) });
      for (const one of [own, gone]) await say(one, { score: 1 });
      await stock.accounts.remove(stock.colleague.id);
      for (const over of [{}, { q: 'where' }, { keyId: 'key_1' }, { score: 1 }, { q: 'where', score: 1 }])
        expect(await ofList(over)).toEqual([own.id]);
      expect(await ofList({ accountId: stock.colleague.id })).toEqual([]);
      expect((await calls.find(named('chatcmpl-1')))?.id).toBe(own.id);
      expect(await calls.locate(named(gone.id))).toBeNull();
      expect(idsOf(...(await calls.some(stock.project.id, ['chatcmpl-1', gone.id])))).toEqual([own.id]);
      await stock.projects.remove(stock.project);
      expect(await calls.find(named(own.id))).toBeNull();
      expect(await calls.removeSome({ accountId: stock.colleague.id }, 9)).toBe(1);
      expect(await calls.removeSome({ projectId: stock.project.id }, 9)).toBe(1);
      expect(await stock.feedback.ofCalls([own.id, gone.id])).toEqual([]);
    });

    it('stores no call of a project or an account whose deletion has begun', async () => {
      const elsewhere = await store.elsewhere();
      const deletions = [
        [{ accountId: stock.colleague.id }, () => elsewhere.accounts.remove(stock.colleague.id)],
        [{ projectId: stock.project.id }, () => elsewhere.projects.remove(stock.project)],
      ] as const;
      for (const [owner, remove] of deletions) {
        let added: Promise<unknown> = Promise.resolve();
        await elsewhere.unitOfWork.run(async () => {
          await remove();
          added = add(owner);
          await sleep(200); // the call waits for the deletion
        });
        await added;
        expect(await calls.removeSome(owner, 9)).toBe(0);
      }
    });

    it('forgets expired calls in batches, also on several instances at once', async () => {
      const expired = (seconds: number) => add({ expiresAt: at(seconds) });
      for (let n = 0; n < 5; n++) await expired(n);
      const kept = await add();
      const elsewhere = (await store.elsewhere()).keptCalls;
      expect(await calls.forget(at(4), 3)).toBe(3);
      const counts = await Promise.all([calls.forget(at(9), 9), elsewhere.forget(at(9), 9)]);
      expect(counts.reduce((sum, one) => sum + one)).toBe(2);
      expect(await calls.forget(new Date(), 9)).toBe(0);
      expect(await ofList()).toEqual([kept.id]);
    });
  });
}
