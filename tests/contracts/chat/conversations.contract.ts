import type { Account, Team } from '../../../src/domain/accounts/account.js';
import type { ChatMessage } from '../../../src/domain/chat/chat.js';
import { type Conversation, conversationLimits } from '../../../src/domain/chat/conversation.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aConversation, anAccount, aProject, aTeam, aTurn, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function conversationsContract(adapter: string, store: StoreUnderTest) {
  describe(`Conversations kept by ${adapter}`, () => {
    let repositories: Repositories;
    let conversations: Repositories['conversations'];
    let team: Team;
    let account: Account;
    let colleague: Account;
    let project: Project;
    let otherProject: Project;

    beforeEach(async () => {
      repositories = await store.open();
      ({ conversations } = repositories);
      team = aTeam();
      await repositories.teams.add(team);
      [account, colleague] = [anAccount(team), anAccount(team, { role: 'admin' })];
      for (const one of [account, colleague]) await repositories.accounts.add(one);
      [project, otherProject] = [aProject(team), aProject(team)];
      for (const one of [project, otherProject]) await repositories.projects.add(one);
    });

    const kept = async (messages: readonly ChatMessage[] = aTurn(), by = account, where = project) => {
      const conversation = aConversation(where, by, messages);
      await conversations.add(conversation, messages);
      return conversation;
    };
    const own = () => ({ projectId: project.id, accountId: account.id });
    const all = { limit: 1_000, before: null };
    const first = { limit: 1_000, after: null };
    const said = async ({ id }: Conversation) =>
      (await conversations.messages(id, { limit: 5_000, before: null })).map(({ content }) => content);
    const asked = (question: string) => aTurn(question).map(({ content }) => content);
    const othersThan = (conversation: Conversation): Conversation[] => [
      { ...conversation, accountId: colleague.id },
      { ...conversation, projectId: otherProject.id },
      { ...conversation, id: ids.next('cnv') },
      { ...conversation, id: '' },
      { ...conversation, id: conversation.id.toUpperCase() },
    ];

    it('gives back exactly what was added, in every process', async () => {
      const messages: ChatMessage[] = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '' },
        { role: 'assistant', content: 'NULL' },
        { role: 'user', content: '  {"a",\\b\\\\,\t"}\r\n\n \u{1F986} Ä \u2028 \u0001 \'; -- ' },
        { role: 'assistant', content: 'x'.repeat(16_000) },
      ];
      const conversation = await kept(messages);
      expect(conversation.messageCount).toBe(5);
      for (const process of [conversations, (await store.elsewhere()).conversations]) {
        expect(await process.find(conversation)).toEqual(conversation);
        const numbered = messages.map((message, index) => ({ ...message, number: index + 1, createdAt: at(0) }));
        expect(await process.messages(conversation.id, all)).toEqual(numbered);
      }
    });

    it('adds none to a project or an account that is not there', async () => {
      const orphans = [aConversation(aProject(team), account), aConversation(project, anAccount(team))];
      for (const orphan of orphans) {
        await expect(conversations.add(orphan, aTurn())).rejects.toMatchObject({ code: 'not_found' });
        expect(await conversations.find(orphan)).toBeNull();
        expect(await conversations.messages(orphan.id, all)).toEqual([]);
      }
    });

    it('appends to the end, counts, and notes when', async () => {
      const conversation = await kept();
      const other = await kept();
      expect(await conversations.append(conversation, aTurn('more'), at(5))).toBe(true);
      expect(await conversations.find(conversation)).toEqual({ ...conversation, messageCount: 4, updatedAt: at(5) });
      const messages = await conversations.messages(conversation.id, all);
      expect(messages.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
      expect(messages.slice(2)).toEqual([
        { ...aTurn('more')[0], number: 3, createdAt: at(5) },
        { ...aTurn('more')[1], number: 4, createdAt: at(5) },
      ]);
      expect(await conversations.find(other)).toEqual(other);
    });

    it('never says that the newest turn was before an earlier one', async () => {
      const conversation = await kept();
      await conversations.append(conversation, aTurn(), at(9));
      await conversations.append(conversation, aTurn(), at(8));
      expect((await conversations.find(conversation))?.updatedAt).toEqual(at(9));
    });

    it('appends nothing to a conversation of another account or project, or to one that is gone', async () => {
      const conversation = await kept();
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
      'lets many turns at once land whole, one after the other, %s units of work',
      async (where) => {
        const parties = 8;
        const conversation = await kept();
        const processes = [repositories, await store.elsewhere()];
        const allAreThere = barrier(parties);
        const appended = await atOnce(parties, async (party) => {
          const here = processes[party % 2] as Repositories;
          const appends = async () => {
            await here.conversations.find(conversation);
            await allAreThere();
            return here.conversations.append(conversation, aTurn(`turn ${party}`), at(party));
          };
          return where === 'inside' ? here.unitOfWork.run(appends) : appends();
        });
        expect(appended).toEqual(Array(parties).fill(true));
        const messages = await conversations.messages(conversation.id, all);
        expect(messages.map(({ number }) => number)).toEqual(Array.from({ length: 2 + 2 * parties }, (_, n) => n + 1));
        const turns = Array.from({ length: parties }, (_, n) => messages.slice(2 + 2 * n, 4 + 2 * n));
        const whole = Array.from({ length: parties }, (_, party) => asked(`turn ${party}`));
        expect(turns.map((turn) => turn.map(({ content }) => content)).sort()).toEqual(whole);
        const after = { ...conversation, messageCount: 2 + 2 * parties, updatedAt: at(parties - 1) };
        expect(await conversations.find(conversation)).toEqual(after);
      },
    );

    it('fills up to the limit and not beyond, however many come at once', async () => {
      const { messages: limit } = conversationLimits;
      const conversation = await kept(Array(limit - 4).fill(aTurn()[0]));
      const processes = [conversations, (await store.elsewhere()).conversations];
      const parties = 6;
      const allAreThere = barrier(parties);
      const appended = await atOnce(parties, async (party) => {
        const here = processes[party % 2] as Repositories['conversations'];
        await here.find(conversation);
        await allAreThere();
        return here.append(conversation, aTurn(), at(party));
      });
      expect(appended.filter(Boolean)).toHaveLength(2);
      expect((await conversations.find(conversation))?.messageCount).toBe(limit);
      expect(await said(conversation)).toHaveLength(limit);
    });

    it('leaves no part of a turn that meets a removal', async () => {
      const conversation = await kept();
      const elsewhere = await store.elsewhere();
      const bothAreThere = barrier(2);
      const meets = async <T>(here: Repositories, act: () => Promise<T>) => {
        await here.conversations.find(conversation);
        await bothAreThere();
        return act();
      };
      const [, removed] = await Promise.all([
        meets(repositories, () => conversations.append(conversation, aTurn(), at(1))),
        meets(elsewhere, () => elsewhere.conversations.remove(conversation)),
      ]);
      expect(removed).toBe(true);
      expect(await conversations.find(conversation)).toBeNull();
      expect(await conversations.messages(conversation.id, all)).toEqual([]);
    });

    it('lists and counts an account’s in a project, newest first, a page at a time', async () => {
      const [one, two, three] = [await kept(), await kept(), await kept()];
      const theirs = await kept(aTurn(), colleague);
      const there = await kept(aTurn(), account, otherProject);
      expect(await conversations.list(own(), first)).toEqual([three, two, one]);
      expect(await conversations.list(own(), { limit: 2, after: null })).toEqual([three, two]);
      expect(await conversations.list(own(), { limit: 2, after: two.id })).toEqual([one]);
      expect(await conversations.list({ ...own(), accountId: colleague.id }, first)).toEqual([theirs]);
      expect(await conversations.list({ ...own(), projectId: otherProject.id }, first)).toEqual([there]);
      expect(await conversations.count(own())).toBe(3);
      expect(await conversations.count({ ...own(), accountId: colleague.id })).toBe(1);
      expect(await conversations.count({ ...own(), accountId: ids.next('usr') })).toBe(0);
    });

    it('tells an account’s recent ones in the projects of a team, the one with the newest turn first', async () => {
      const elsewhere = aTeam();
      await repositories.teams.add(elsewhere);
      const theirProject = aProject(elsewhere);
      await repositories.projects.add(theirProject);
      const [one, two, three] = [await kept(), await kept(aTurn(), account, otherProject), await kept()];
      await kept(aTurn(), colleague);
      const moved = await kept(aTurn(), account, theirProject);
      await conversations.append(one, aTurn(), at(7));
      const renewed = { ...one, messageCount: 4, updatedAt: at(7) };
      expect(await conversations.recent(account.id, team.id, 10)).toEqual([renewed, three, two]);
      expect(await conversations.recent(account.id, team.id, 2)).toEqual([renewed, three]);
      expect(await conversations.recent(account.id, elsewhere.id, 10)).toEqual([moved]);
      expect(await conversations.recent(account.id, ids.next('tea'), 10)).toEqual([]);
    });

    it('gives the newest messages in their order, a page at a time', async () => {
      const { id } = await kept(['a', 'b', 'c', 'd', 'e'].map((content) => ({ role: 'user', content })));
      const page = async (limit: number, before: number | null) =>
        (await conversations.messages(id, { limit, before })).map(({ content }) => content).join('');
      expect(await page(2, null)).toBe('de');
      expect(await page(2, 4)).toBe('bc');
      expect(await page(2, 2)).toBe('a');
      expect(await page(2, 1)).toBe('');
      expect(await page(9, null)).toBe('abcde');
    });

    it('removes one with its messages, once, and only by its own key', async () => {
      const [conversation, other] = [await kept(), await kept()];
      for (const wrong of othersThan(conversation)) expect(await conversations.remove(wrong)).toBe(false);
      expect(await conversations.remove(conversation)).toBe(true);
      expect(await conversations.remove(conversation)).toBe(false);
      expect(await conversations.find(conversation)).toBeNull();
      expect(await conversations.messages(conversation.id, all)).toEqual([]);
      expect(await conversations.list(own(), first)).toEqual([other]);
      expect(await said(other)).toEqual(asked('Hi'));
    });

    it('lets them go with their account, and with their project', async () => {
      const mine = await kept();
      const theirs = await kept(aTurn(), colleague);
      const there = await kept(aTurn(), colleague, otherProject);
      await repositories.accounts.remove(account.id);
      expect(await conversations.find(mine)).toBeNull();
      expect(await conversations.find(theirs)).toEqual(theirs);
      await repositories.projects.remove(project);
      expect(await conversations.find(theirs)).toBeNull();
      expect(await conversations.find(there)).toEqual(there);
      for (const { id } of [mine, theirs]) expect(await conversations.messages(id, all)).toEqual([]);
    });
  });
}
