import type { Account } from '../../../src/domain/accounts/account.js';
import type { ChatMessage } from '../../../src/domain/chat/chat.js';
import { type Conversation, conversationLimits } from '../../../src/domain/chat/conversation.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { race } from '../../support/barrier.js';
import { aConversation, anAccount, aProject, aTurn, at, ids } from '../../support/records.js';
import {
  expectPages,
  type Repositories,
  type StockedStore,
  type StoreUnderTest,
  stocked,
} from '../../support/repositories.js';

export function conversationsContract(adapter: string, store: StoreUnderTest) {
  describe(`Conversations in ${adapter}`, () => {
    let stock: StockedStore;
    let conversations: StockedStore['conversations'];
    let account: Account;
    let colleague: Account;
    let project: Project;
    let otherProject: Project;
    beforeEach(async () => {
      stock = await stocked(store);
      ({ conversations, account, colleague, project, otherProject } = stock);
    });

    const add = async (messages: readonly ChatMessage[] = aTurn(), by = account, where = project) => {
      const conversation = aConversation(where, by, messages);
      await conversations.add(conversation, messages);
      return conversation;
    };
    const own = () => ({ projectId: project.id, accountId: account.id });
    const all = { limit: 1_000, before: null };
    const first = { limit: 1_000, after: null };
    const contentsOf = async ({ id }: Conversation) =>
      (await conversations.messages(id, { limit: 5_000, before: null })).map(({ content }) => content);
    const turnContents = (question: string) => aTurn(question).map(({ content }) => content);
    const othersThan = (conversation: Conversation): Conversation[] => [
      { ...conversation, accountId: colleague.id },
      { ...conversation, projectId: otherProject.id },
      { ...conversation, id: ids.next('cnv') },
      { ...conversation, id: '' },
      { ...conversation, id: conversation.id.toUpperCase() },
    ];

    it('returns a conversation exactly as it was added, on every instance', async () => {
      const messages: ChatMessage[] = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '' },
        { role: 'assistant', content: 'NULL' },
        { role: 'user', content: '  {"a",\\b\\\\,\t"}\r\n\n \u{1F986} Ä \u2028 \u0001 \'; -- ' },
        { role: 'assistant', content: 'x'.repeat(16_000) },
      ];
      const conversation = await add(messages);
      expect(conversation.messageCount).toBe(5);
      for (const instance of [conversations, (await store.elsewhere()).conversations]) {
        expect(await instance.find(conversation)).toEqual(conversation);
        const numbered = messages.map((message, index) => ({ ...message, number: index + 1, createdAt: at(0) }));
        expect(await instance.messages(conversation.id, all)).toEqual(numbered);
      }
    });

    it('refuses a conversation of a project or an account that does not exist', async () => {
      const orphans = [aConversation(aProject(stock.team), account), aConversation(project, anAccount(stock.team))];
      for (const orphan of orphans) {
        await expect(conversations.add(orphan, aTurn())).rejects.toMatchObject({ code: 'not_found' });
        expect(await conversations.find(orphan)).toBeNull();
        expect(await conversations.messages(orphan.id, all)).toEqual([]);
      }
    });

    it('appends messages at the end, counts them and stores the time of the latest turn', async () => {
      const conversation = await add();
      const other = await add();
      expect(await conversations.append(conversation, aTurn('more'), at(5))).toBe(true);
      expect(await conversations.find(conversation)).toEqual({ ...conversation, messageCount: 4, updatedAt: at(5) });
      const messages = await conversations.messages(conversation.id, all);
      expect(messages.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
      expect(messages.slice(2)).toEqual([
        { ...aTurn('more')[0], number: 3, createdAt: at(5) },
        { ...aTurn('more')[1], number: 4, createdAt: at(5) },
      ]);
      expect(await conversations.find(other)).toEqual(other);
      await conversations.append(conversation, aTurn(), at(4));
      expect((await conversations.find(conversation))?.updatedAt).toEqual(at(5));
    });

    it('appends nothing to a conversation of another account or project, or to a removed one', async () => {
      const conversation = await add();
      for (const other of othersThan(conversation))
        expect([await conversations.find(other), await conversations.append(other, aTurn(), at(1))]).toEqual([
          null,
          false,
        ]);
      expect(await conversations.find(conversation)).toEqual(conversation);
      await conversations.remove(conversation);
      expect(await conversations.append(conversation, aTurn(), at(1))).toBe(false);
      expect(await conversations.messages(conversation.id, all)).toEqual([]);
    });

    it.each(['outside of', 'inside'])(
      'appends each of several concurrent turns as one piece, %s units of work',
      async (where) => {
        const conversation = await add();
        const instances = [stock, await store.elsewhere()] as const;
        const on = (party: number) => instances[party % 2] as Repositories;
        const appended = await race(
          8,
          (party) => on(party).conversations.find(conversation),
          (_, party) => on(party).conversations.append(conversation, aTurn(`turn ${party}`), at(party)),
          where === 'inside' ? (steps, party) => on(party).unitOfWork.run(steps) : undefined,
        );
        expect(appended).toEqual(Array(8).fill(true));
        const messages = await conversations.messages(conversation.id, all);
        expect(messages.map(({ number }) => number)).toEqual(Array.from({ length: 18 }, (_, n) => n + 1));
        const turns = Array.from({ length: 8 }, (_, n) => messages.slice(2 + 2 * n, 4 + 2 * n));
        const whole = Array.from({ length: 8 }, (_, party) => turnContents(`turn ${party}`));
        expect(turns.map((turn) => turn.map(({ content }) => content)).sort()).toEqual(whole);
        expect(await conversations.find(conversation)).toEqual({ ...conversation, messageCount: 18, updatedAt: at(7) });
      },
    );

    it('never exceeds the limit of messages, also with concurrent turns', async () => {
      const { messages: limit } = conversationLimits;
      const conversation = await add(Array(limit - 4).fill(aTurn()[0]));
      const instances = [conversations, (await store.elsewhere()).conversations];
      const on = (party: number) => instances[party % 2] as Repositories['conversations'];
      const appended = await race(
        6,
        (party) => on(party).find(conversation),
        (_, party) => on(party).append(conversation, aTurn(), at(party)),
      );
      expect(appended.filter(Boolean)).toHaveLength(2);
      expect((await conversations.find(conversation))?.messageCount).toBe(limit);
      expect(await contentsOf(conversation)).toHaveLength(limit);
    });

    it('stores no part of a turn during a removal', async () => {
      const conversation = await add();
      const elsewhere = (await store.elsewhere()).conversations;
      const [, removed] = await race(
        2,
        (party) => (party ? elsewhere : conversations).find(conversation),
        (_, party) => (party ? elsewhere.remove(conversation) : conversations.append(conversation, aTurn(), at(1))),
      );
      expect(removed).toBe(true);
      expect(await conversations.find(conversation)).toBeNull();
      expect(await conversations.messages(conversation.id, all)).toEqual([]);
    });

    it('lists and counts the conversations of an account in a project, newest first, in pages', async () => {
      const [one, two, three] = [await add(), await add(), await add()];
      const theirs = await add(aTurn(), colleague);
      const there = await add(aTurn(), account, otherProject);
      await expectPages((page) => conversations.list(own(), page), [three, two, one]);
      expect(await conversations.list({ ...own(), accountId: colleague.id }, first)).toEqual([theirs]);
      expect(await conversations.list({ ...own(), projectId: otherProject.id }, first)).toEqual([there]);
      expect(await conversations.stored(own())).toMatchObject({ inProject: 3 });
      expect(await conversations.stored({ ...own(), accountId: colleague.id })).toMatchObject({ inProject: 1 });
      expect(await conversations.stored({ ...own(), accountId: ids.next('usr') })).toEqual({ inProject: 0, bytes: 0 });
    });

    it('returns the recent conversations of an account in a team’s projects, newest turn first', async () => {
      const theirProject = aProject(stock.otherTeam);
      await stock.projects.add(theirProject);
      const [one, two, three] = [await add(), await add(aTurn(), account, otherProject), await add()];
      await add(aTurn(), colleague);
      const moved = await add(aTurn(), account, theirProject);
      await conversations.append(one, aTurn(), at(7));
      const renewed = { ...one, messageCount: 4, updatedAt: at(7) };
      expect(await conversations.recent(account.id, stock.team.id, 10)).toEqual([renewed, three, two]);
      expect(await conversations.recent(account.id, stock.team.id, 2)).toEqual([renewed, three]);
      expect(await conversations.recent(account.id, stock.otherTeam.id, 10)).toEqual([moved]);
      expect(await conversations.recent(account.id, ids.next('tea'), 10)).toEqual([]);
    });

    it('returns the newest messages, oldest first, in pages', async () => {
      const { id } = await add(['a', 'b', 'c', 'd', 'e'].map((content) => ({ role: 'user', content })));
      const page = async (limit: number, before: number | null) =>
        (await conversations.messages(id, { limit, before })).map(({ content }) => content).join('');
      expect(await page(2, null)).toBe('de');
      expect(await page(2, 4)).toBe('bc');
      expect(await page(2, 2)).toBe('a');
      expect(await page(2, 1)).toBe('');
      expect(await page(9, null)).toBe('abcde');
      const sizes = await conversations.messageSizes(id, { limit: 2, before: 4 });
      expect(sizes.map((one) => one.id)).toEqual(['3', '2']);
    });

    it('removes a conversation with its messages, once, and only by its whole key', async () => {
      const [conversation, other] = [await add(), await add()];
      for (const wrong of othersThan(conversation)) expect(await conversations.remove(wrong)).toBe(false);
      expect(await conversations.remove(conversation)).toBe(true);
      expect(await conversations.remove(conversation)).toBe(false);
      expect(await conversations.find(conversation)).toBeNull();
      expect(await conversations.messages(conversation.id, all)).toEqual([]);
      expect(await conversations.list(own(), first)).toEqual([other]);
      expect(await contentsOf(other)).toEqual(turnContents('Hi'));
    });
  });
}
