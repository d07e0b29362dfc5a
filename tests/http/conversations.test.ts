import { once } from 'node:events';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { conversationLimits } from '../../src/domain/chat/conversation.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { barrier } from '../support/barrier.js';
import { copyRow, query } from '../support/database.js';
import { ask, completions, createProject, type Member, readyProject } from '../support/workspace.js';
import { refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const HEADER = 'X-Conversation-Id';
const UNKNOWN = 'cnv_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
const question = 'What is the capital of France?';
const answer = 'The capital of France is Paris.';
const turn = [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
];

let app: TestApp;
let admin: Member;
let developer: Member;
let member: Member;
/** Names a project with a ready runtime. */
let project: string;
/** Names a project without a runtime. */
let bare: string;
let answering: (request: ChatRequest, signal: AbortSignal) => unknown;
const runtime = new MemoryChatRuntimes({
  'tiny-chat': { answer: (request, signal) => answering(request, signal) },
});

beforeAll(async () => {
  ({ app, admin, developer, member } = await TestApp.withTeam({
    adapt: (container) => container.rebind(ChatRuntimes).toConstantValue(runtime),
  }));
  bare = await createProject(app, admin.token);
});
afterAll(() => app.stop());
beforeEach(async () => {
  answering = () => answer;
  project = await readyProject(app, admin.token);
});

const at = (rest = '', of = project) => `/v1/projects/${of}/conversations${rest}`;
const chat = (kept: string | null, { token = admin.token, of = project, json = ask(of, question) as object } = {}) =>
  app.call('POST', completions(of), { token, json, headers: kept === null ? {} : { [HEADER]: kept } });
const begun = async (token = admin.token): Promise<string> => {
  const { status, headers } = await chat('new', { token });
  expect(status).toBe(200);
  return headers.get(HEADER) as string;
};
const read = async (id: string) => (await app.get(at(`/${id}`), admin.token)).body;
const said = async (id: string) => (await read(id)).messages.map(({ content }: { content: string }) => content);
const listed = async (token = admin.token) => (await app.get(at(), token)).body;
const notFound = { status: 404, body: { code: 'not_found', error: 'There is no such conversation.' } };

describe('conversations', () => {
  it('are stored, and named in a header, only on request', async () => {
    const { status, headers } = await chat(null);
    expect({ status, header: headers.has(HEADER) }).toEqual({ status: 200, header: false });
    expect(await listed()).toEqual({ conversations: [], count: 0, next_cursor: null });
  });

  it('begin with all sent messages, then grow by each question and answer, with a session or a key', async () => {
    const before = [
      { role: 'user', content: 'What is\n 7 + 5?' },
      { role: 'assistant', content: '7 + 5 = 12.' },
    ];
    const messages = [...before, turn[0]];
    const first = await chat('new', { token: admin.apiKey, json: { model: project, messages } });
    expect(first.body.choices[0].message).toEqual(turn[1]);
    const id = first.headers.get(HEADER) as string;
    expect(id).toMatch(/^cnv_[0-9a-f-]{36}$/);

    const more = { role: 'user', content: 'What is 1 + 1?' };
    const second = await chat(id, { json: { model: project, messages: [...messages, turn[1], more] } });
    expect({ status: second.status, id: second.headers.get(HEADER) }).toEqual({ status: 200, id });
    const { messages: kept, ...conversation } = await read(id);
    expect(kept).toEqual(
      [...before, ...turn, more, turn[1]].map((message) => ({ ...message, created_at: expect.any(Number) })),
    );
    expect(conversation).toEqual({
      id,
      project_id: project,
      title: 'What is 7 + 5?',
      message_count: 6,
      created_at: kept[0].created_at,
      updated_at: kept[5].created_at,
      next_cursor: null,
    });
    const { next_cursor: _, ...item } = conversation;
    expect(await listed()).toEqual({ conversations: [item], count: 1, next_cursor: null });
  });

  it('are hidden from every other account, also from admins', async () => {
    const everybody = [admin, developer, member];
    const ids: string[] = [];
    for (const { token } of everybody) ids.push(await begun(token));
    for (const [index, { token }] of everybody.entries()) {
      expect((await listed(token)).conversations.map(({ id }: { id: string }) => id)).toEqual([ids[index]]);
      for (const id of [...ids.filter((_, other) => other !== index), UNKNOWN]) {
        expect(await app.get(at(`/${id}`), token)).toMatchObject(notFound);
        expect(await app.delete(at(`/${id}`), token)).toMatchObject(notFound);
        expect(await chat(id, { token })).toMatchObject(notFound);
      }
    }
    for (const [index, { token }] of everybody.entries()) {
      const { status, body } = await app.delete(at(`/${ids[index]}`), token);
      expect({ status, body }).toEqual({ status: 200, body: { id: ids[index], deleted: true } });
      expect((await app.get(at(`/${ids[index]}`), token)).status).toBe(404);
    }
  });

  it('are listed and read a page at a time', async () => {
    const ids = [await begun(), await begun()].reverse();
    const first = (await app.get(at('?limit=1'), admin.token)).body;
    expect(first).toMatchObject({ conversations: [{ id: ids[0] }], count: 1 });
    const second = (await app.get(at(`?limit=1&cursor=${first.next_cursor}`), admin.token)).body;
    expect(second).toMatchObject({ conversations: [{ id: ids[1] }], next_cursor: null });
    const newest = (await app.get(at(`/${ids[0]}?limit=1`), admin.token)).body;
    expect(newest).toMatchObject({ message_count: 2, messages: [turn[1]] });
    const older = (await app.get(at(`/${ids[0]}?limit=1&cursor=${newest.next_cursor}`), admin.token)).body;
    expect(older).toMatchObject({ messages: [turn[0]], next_cursor: null });
    for (const bad of ['limit=0', 'limit=1001', 'cursor=x', 'cursor=0', 'cursor=2147483648'])
      expect((await app.get(at(`/${ids[0]}?${bad}`), admin.token)).status).toBe(422);
  });

  it.each(['', 'NEW', 'new, new', 'cnv_1', `${UNKNOWN}0`, UNKNOWN.replace('cnv', 'prj')])(
    'refuse the header "%s" in any state of the runtime',
    async (kept) => {
      for (const where of [project, bare]) {
        const { status, body, headers } = await chat(kept, { of: where });
        expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
        expect(body.details).toEqual([{ path: HEADER, message: expect.stringContaining('"new"') }]);
        expect(headers.has(HEADER)).toBe(false);
      }
      const elsewhere = await chat(kept, { of: UNKNOWN.replace('cnv', 'prj') });
      expect(elsewhere.status).toBe(404);
    },
  );

  it('are looked up before the request is validated and the runtime is used', async () => {
    const id = await begun();
    const invalid = [{ model: bare }, ask('gpt-4o', question), ask(bare, question, { stream: true })];
    for (const json of [ask(bare, question), ...invalid]) {
      for (const kept of [UNKNOWN, id]) expect(await chat(kept, { of: bare, json })).toMatchObject(notFound);
    }
    for (const json of invalid) {
      expect((await chat('new', { of: bare, json })).status).toBe(422);
      expect((await chat(id, { json: { ...json, model: 'x' } })).status).toBe(422);
    }
    expect((await read(id)).message_count).toBe(2);
  });

  it('are full at 2,000 messages', async () => {
    const id = await begun();
    const almost = conversationLimits.messages - 1;
    await query(app.database.url, 'UPDATE conversations SET message_count = $2 WHERE id = $1', [id, almost]);
    const { status, body } = await chat(id);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details).toEqual([{ path: HEADER, message: expect.stringMatching(/2000.*"new"/) }]);
    expect((await chat('new')).status).toBe(200);
  });

  it('refuse a turn with too many or too long messages before the model answers, and store nothing of it', async () => {
    let asked = 0;
    answering = () => `answer ${asked++}`;
    const { messages: most, turnLength } = conversationLimits;
    const say = (kept: string, messages: object[]) =>
      app.call('POST', '/openai/v1/chat/completions', {
        token: admin.token,
        json: { model: project, messages },
        headers: { [HEADER]: kept },
      });
    const one = { role: 'user', content: 'x' };
    const tooLong = [one, { role: 'user', content: 'x'.repeat(turnLength) }];
    const refusals = [await say('new', Array(most).fill(one)), await say('new', tooLong)];
    for (const { status, body } of refusals)
      expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'invalid_request', param: HEADER });
    expect(refusals.map(({ body }) => body.error.message)).toEqual([
      expect.stringContaining(`${most} messages`),
      expect.stringContaining(`${turnLength + 1} characters, and at most ${turnLength}`),
    ]);
    expect({ asked, ...(await listed()) }).toMatchObject({ asked: 0, count: 0 });
    const whole = await say('new', [...Array(most - 2).fill({ ...one, content: '' }), one]);
    expect(whole).toMatchObject({ status: 200, body: { object: 'chat.completion' } });
    expect(await read(whole.headers.get(HEADER) as string)).toMatchObject({ message_count: most });
    // An existing conversation stores only the last message.
    const other = await begun();
    expect((await say(other, tooLong.reverse())).status).toBe(200);
    expect(await read(other)).toMatchObject({ message_count: 4 });
  });

  it('are limited to 1,000 for each account in a project', async () => {
    const id = await begun();
    await copyRow(app.database.url, 'conversations', id, conversationLimits.perProject - 1);
    for (const token of [admin.token, admin.apiKey]) {
      const { status, body } = await chat('new', { token });
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
      expect(body.details).toEqual([{ path: HEADER, message: expect.stringMatching(/1000.*DELETE/) }]);
    }
    expect((await chat(id)).status).toBe(200);
    expect((await chat('new', { token: member.token })).status).toBe(200);
    await app.delete(at(`/${id}`), admin.token);
    expect((await chat('new')).status).toBe(200);
  });

  it('leave none of their text in the log', async () => {
    const id = await begun();
    await chat(id);
    await read(id);
    const log = JSON.stringify(app.logger.lines);
    expect(log).toContain('/chat/completions');
    for (const word of ['capital', 'France', 'Paris']) expect(log).not.toContain(word);
  });
});

describe('a conversation during a call', () => {
  it.each([
    [422, 'context_length_exceeded', null],
    [502, 'runtime_invalid_response', new RuntimeInvalidResponse('nonsense')],
    [504, 'inference_timeout', new InferenceTimeout(60)],
  ])('stores nothing of a call that ends with %i', async (status, code, failure) => {
    const id = await begun();
    answering = () => {
      throw failure;
    };
    const json = ask(project, status === 422 ? 'blue river '.repeat(200) : question);
    for (const kept of ['new', id]) {
      const refused = await chat(kept, { json });
      expect(refused).toMatchObject({ status, body: { code } });
      expect(refused.headers.has(HEADER)).toBe(false);
      expect(refused.headers.get('x-should-retry')).toBe(status === 422 ? null : 'false');
    }
    expect(await chat('new', { of: bare })).toMatchObject(refusal(503, 'runtime_not_connected'));
    expect(await listed()).toMatchObject({ count: 1, conversations: [{ id, message_count: 2 }] });
  });

  it('stores nothing after its caller has left, even if the answer still came', async () => {
    const id = await begun();
    for (const kept of ['new', id]) {
      const goner = new AbortController();
      const answered = new Promise<void>((resolve) => {
        answering = async (_, signal) => {
          const gone = once(signal, 'abort');
          goner.abort();
          await gone;
          setImmediate(resolve);
          return 'too late';
        };
      });
      const options = { token: admin.apiKey, json: ask(project, 'Hi'), headers: { [HEADER]: kept } };
      const call = app.call('POST', completions(project), { ...options, signal: goner.signal });
      await expect(call).rejects.toThrow();
      await answered;
    }
    answering = () => 'Yes';
    expect((await chat(id)).status).toBe(200);
    expect((await listed()).count).toBe(1);
    expect(await said(id)).toEqual([question, answer, question, 'Yes']);
  });

  it('is not found, and not created again, if it or its project was deleted meanwhile', async () => {
    const id = await begun();
    answering = async () => {
      await app.delete(at(`/${id}`), admin.token);
      return 'Hello';
    };
    const gone = await chat(id);
    expect(gone).toMatchObject(notFound);
    expect(gone.headers.has(HEADER)).toBe(false);
    expect((await listed()).count).toBe(0);
    expect((await app.get(at(`/${id}`), admin.token)).status).toBe(404);
    // The runtime answers although the deletion has stopped it.
    const complete = jest.spyOn(runtime, 'complete').mockImplementationOnce(async () => {
      expect((await app.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
      return { text: 'Hello', finishReason: 'stop', usage: null };
    });
    expect(await chat('new')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    complete.mockRestore();
  });

  it.each([false, true])('fails the job of the call if its turn cannot be stored (stream: %s)', async (stream) => {
    const id = await begun();
    answering = async () => {
      await app.delete(at(`/${id}`), admin.token);
      return 'Hello';
    };
    const path = stream ? '/openai/v1/chat/completions' : completions(project);
    const json = { ...ask(project, question), stream };
    const { status, body } = await app.call('POST', path, { token: admin.token, json, headers: { [HEADER]: id } });
    if (stream) expect(String(body)).toContain('There is no such conversation.');
    else expect(status).toBe(404);
    const { jobs } = (await app.get(`/v1/jobs?kind=chat&project_id=${project}&limit=2`, admin.token)).body;
    const error = 'not_found: There is no such conversation.';
    expect(jobs).toMatchObject([{ status: 'failed', error }, { status: 'succeeded' }]);
    const { usage } = (await app.get('/v1/usage?group_by=project', admin.token)).body;
    const figures = usage.find(({ group }: { group: string }) => group === project);
    expect(figures).toMatchObject({ calls: 2, tokens_out: 7 }); // six words and one
  });

  it('stores two simultaneous turns, each one whole', async () => {
    const id = await begun();
    const bothAreAsked = barrier(2);
    const complete = jest.spyOn(runtime, 'complete').mockImplementation(async (_, { messages }) => {
      await bothAreAsked();
      return { text: `You said ${messages.at(-1)?.content}`, finishReason: 'stop', usage: null };
    });
    const answers = await Promise.all(['left', 'right'].map((text) => chat(id, { json: ask(project, text) })));
    complete.mockRestore();
    for (const { status, headers } of answers) expect([status, headers.get(HEADER)]).toEqual([200, id]);
    const turns = (await said(id)).slice(2);
    const whole = ['left', 'You said left', 'right', 'You said right'];
    expect(turns[0] === 'left' ? turns : [...turns.slice(2), ...turns.slice(0, 2)]).toEqual(whole);
  });

  it('store only the beginning of a very long answer, and say so; the caller gets all of it', async () => {
    const long = 'x'.repeat(300_000);
    answering = () => long;
    const { body, headers } = await chat('new');
    expect(body.choices[0].message.content).toBe(long);
    const id = headers.get(HEADER) as string;
    const json = { ...ask(project, question), stream: true };
    const streamed = await app.call('POST', '/openai/v1/chat/completions', {
      token: admin.token,
      json,
      headers: { [HEADER]: id },
    });
    expect(String(streamed.body)).toContain(long);
    const most = conversationLimits.answerLength;
    const cut = `${long.slice(0, most)}\n\n[The rest of this answer is not stored: it is longer than ${most} characters.]`;
    expect(await said(id)).toEqual([question, cut, question, cut]);
    answering = () => 'x'.repeat(most);
    await chat(id);
    expect((await said(id)).at(-1)).toBe('x'.repeat(most));
  });

  it('replaces the characters of an answer that the database cannot store', async () => {
    answering = () => 'NUL \0 and half \ud800 of a pair \u{1F986}';
    const { status, headers } = await chat('new');
    expect(status).toBe(200);
    expect((await said(headers.get(HEADER) as string))[1]).toBe('NUL \ufffd and half \ufffd of a pair \u{1F986}');
  });
});
