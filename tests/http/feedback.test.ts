import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { Masker } from '../../src/application/record/ports.js';
import { MaskingFailed } from '../../src/domain/record/errors.js';
import type { Mask } from '../../src/domain/record/recording.js';
import type { Json } from '../../src/domain/workspace/json.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { atOnce } from '../support/barrier.js';
import { query } from '../support/database.js';
import { masker } from '../support/masker.js';
import { ask, completions, type Member, readyProject } from '../support/workspace.js';
import { invalid, notFound, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

/** The masker fails for texts with this word. */
const UNMASKABLE = 'unmaskable';

class FailingMasker extends Masker {
  constructor(private readonly real: Masker) {
    super();
  }

  problem(pattern: string): string | null {
    return this.real.problem(pattern);
  }

  mask(text: string, masks: readonly Mask[]): Promise<string> {
    return this.maskJson<string>(text, masks);
  }

  async maskJson<T extends Json>(value: T, masks: readonly Mask[]): Promise<T> {
    if (JSON.stringify(value).includes(UNMASKABLE)) throw new MaskingFailed('it took too long');
    return this.real.maskJson(value, masks);
  }
}

describe('feedback on a call', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  let project: string;
  /** The ids of a call: in its answer, and of its job. */
  let answerId: string;
  let jobId: string;

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      adapt: (container) => {
        const answer = async () => 'Paris';
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ chat: { answer } }));
        container.rebind(Masker).toConstantValue(new FailingMasker(masker));
      },
    }));
    await app.verifyEmails();
    project = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    [answerId, jobId] = await chatted(project);
  });

  const chatted = async (id: string): Promise<[answer: string, job: string]> => {
    const { body } = await app.post(completions(id), admin.token, ask(id, 'France?'));
    const { jobs } = (await app.get(`/v1/jobs?kind=chat&project_id=${id}&limit=1`, admin.token)).body;
    return [body.id, jobs[0].id];
  };
  const give = (callId: string, feedback: object, token = member.token) =>
    app.post(`/v1/calls/${callId}/feedback`, token, feedback);
  const kept = async (callId = jobId) => (await app.store.feedback.ofCalls([callId])).map(({ score }) => score);
  const settings = async (record: object | null) => {
    const { body } = await app.get(`/v1/projects/${project}`, admin.token);
    const spec = { ...body.spec, record };
    expect((await app.put(`/v1/projects/${project}`, admin.token, { version: body.version, spec })).status).toBe(200);
  };

  it('is kept as it was given, and a later one of the account replaces it', async () => {
    const all = { score: 0.5, label: ' too long ', comment: 'Say less.', correction: { city: ['Paris'] } };
    const first = await give(jobId, all);
    expect(first).toMatchObject({ status: 201 });
    expect(first.body).toEqual({
      ...{ ...all, label: 'too long', id: expect.stringMatching(/^fbk_/), account_id: member.id, key_id: null },
      ...{ created_at: expect.any(Number), is_current: true },
    });
    const second = await give(jobId, { score: -1 });
    expect(second.body).toMatchObject({ score: -1, label: null, comment: null, correction: null, is_current: true });
    expect((await give(jobId, { score: 1, other: 'ignored' }, admin.token)).status).toBe(201);
    const stored = await app.store.feedback.ofCalls([jobId]);
    expect(stored.map(({ accountId, score, isCurrent }) => [accountId, score, isCurrent])).toEqual([
      [admin.id, 1, true],
      [member.id, -1, true],
      [member.id, 0.5, false],
    ]);
  });

  it('names the call by its job, or by the id in the answer of any API', async () => {
    const openai = await app.post('/openai/v1/chat/completions', admin.token, ask(project, 'France?'));
    const texts = await app.post('/openai/v1/completions', admin.token, { model: project, prompt: 'France?' });
    const response = await app.post('/openai/v1/responses', admin.token, { model: project, input: 'France?' });
    const messages = ask(project, 'France?', { max_tokens: 9 });
    const message = await app.post('/openai/v1/messages', admin.token, messages);
    const named = [answerId, openai.body.id, texts.body.id, response.body.id, message.body.id];
    expect(named.map((id: string) => id.replace(/[-_].*/, ''))).toEqual([
      'chatcmpl',
      'chatcmpl',
      'cmpl',
      'resp',
      'msg',
    ]);
    for (const [index, id] of [...named, response.body.output[0].id].entries()) {
      const score = index / 10;
      expect(await give(id, { score })).toMatchObject({ status: 201, body: { score } });
    }
    expect(await kept()).toEqual([0]);
  });

  it('is for calls of the team that are kept', async () => {
    expect(await give(jobId, { score: 1 }, stranger.token)).toMatchObject(notFound);
    for (const id of [jobId.replace(/.$/, 'x'), `${answerId}-0`, 'msg_1', "o'clock", 'x'.repeat(121), '%00'])
      expect(await give(id, { score: 1 })).toMatchObject(notFound);
    await query(app.database.url, `UPDATE calls SET expires_at = $2 WHERE id = $1`, [jobId, app.clock.now()]);
    expect(await give(jobId, { score: 1 })).toMatchObject(notFound);
    await settings({ share: 0 });
    const [, leftOut] = await chatted(project);
    expect(await give(leftOut, { score: 1 })).toMatchObject(notFound);
    await settings(null);
  });

  it('comes with a key that may chat, in one of the projects of the key', async () => {
    const other = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    const [otherId] = await chatted(other);
    const key = async (restrictions: object) => (await app.post('/v1/keys', member.token, restrictions)).body;
    expect((await give(answerId, { score: 1 }, member.apiKey)).status).toBe(201);
    const chats = await key({ permissions: ['chat'] });
    expect((await give(answerId, { score: 1 }, chats.key)).body).toMatchObject({
      account_id: member.id,
      key_id: chats.id,
    });
    for (const permissions of [['read'], ['write', 'predict']])
      expect(await give(answerId, { score: 1 }, (await key({ permissions })).key)).toMatchObject(
        refusal(403, 'key_restricted'),
      );
    for (const permissions of [['chat'], undefined]) {
      const ofProject = await key({ projects: [project], permissions });
      expect((await give(answerId, { score: 1 }, ofProject.key)).status).toBe(201);
      expect(await give(otherId, { score: 1 }, ofProject.key)).toMatchObject(notFound);
    }
  });

  it('with an id that several calls have is for an own call, or for one that the key is for', async () => {
    const other = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    const [, elsewhere] = await chatted(other);
    const [, newest] = await chatted(other);
    const rename = `UPDATE calls SET answer_id = 'chatcmpl-same', account_id = coalesce($2, account_id) WHERE id = $1`;
    const owners = { [jobId]: member.id, [elsewhere]: null, [newest]: null };
    for (const [id, owner] of Object.entries(owners)) await query(app.database.url, rename, [id, owner]);
    const scores = async () => [await kept(jobId), await kept(elsewhere), await kept(newest)];
    expect((await give('chatcmpl-same', { score: 0.1 })).status).toBe(201);
    expect(await scores()).toEqual([[0.1], [], []]);
    expect((await give('chatcmpl-same', { score: 0.2 }, admin.token)).status).toBe(201);
    expect(await scores()).toEqual([[0.1], [], [0.2]]);
    const { key } = (await app.post('/v1/keys', admin.token, { projects: [project] })).body;
    expect((await give('chatcmpl-same', { score: 0.3 }, key)).status).toBe(201);
    expect(await scores()).toEqual([[0.3, 0.1], [], [0.2]]);
    const read = (at: string, token: string) => app.get(`/v1/projects/${at}/calls/chatcmpl-same`, token);
    expect((await read(project, admin.token)).body.id).toBe(jobId);
    expect((await read(other, admin.token)).body.id).toBe(newest);
    expect((await read(project, member.token)).body.id).toBe(jobId);
    expect(await read(other, member.token)).toMatchObject(notFound);
  });

  it('is refused if it says nothing, or too much', async () => {
    const nothing = { score: null, label: null, comment: null, correction: null };
    for (const feedback of [{}, nothing, { other: 1 }]) expect(await give(jobId, feedback)).toMatchObject(invalid(''));
    const wrong: Record<string, unknown[]> = {
      score: [1.01, -1.01, '1', true],
      label: ['', ' ', 'é'.repeat(65), 1],
      comment: ['x'.repeat(4_001), []],
      correction: ['é'.repeat(32 * 1024), Array.from({ length: 32_768 }, () => 1)],
    };
    for (const [field, values] of Object.entries(wrong))
      for (const value of values) expect(await give(jobId, { [field]: value })).toMatchObject(invalid(field));
    const raw = (text: string) => app.call('POST', `/v1/calls/${jobId}/feedback`, { token: member.token, raw: text });
    for (const text of ['{"score":1e400}', '{"correction":12345678901234567890}', '{"comment":"\\u0000"}'])
      expect(await raw(text)).toMatchObject(refusal(422, 'invalid_request'));
    expect(await kept()).toEqual([]);
    const most = { score: -1, label: '😀'.repeat(64), comment: '\n'.repeat(4_000), correction: 'x'.repeat(65_534) };
    expect((await give(jobId, most)).status).toBe(201);
  });

  it('ends after 100 times, or 256 KB, of an account on a call', async () => {
    expect((await give(jobId, { score: 0 })).status).toBe(201);
    const copies = `INSERT INTO call_feedback SELECT id || '-' || n, call_id, project_id, account_id, key_id, score, label,
      comment, correction, bytes, created_at, false FROM call_feedback, generate_series(1, 98) n WHERE call_id = $1`;
    await query(app.database.url, copies, [jobId]);
    expect((await give(jobId, { score: 1 })).status).toBe(201);
    expect(await give(jobId, { score: 1 })).toMatchObject(invalid(''));
    expect((await give(jobId, { score: 1 }, admin.token)).status).toBe(201);
    const [, long] = await chatted(project);
    for (let n = 0; n < 4; n++) expect((await give(long, { correction: 'x'.repeat(65_000) })).status).toBe(201);
    expect(await give(long, { correction: 'x'.repeat(65_000) })).toMatchObject(invalid(''));
    expect((await give(long, { label: 'short' })).status).toBe(201);
  });

  it('counts once if it comes several times at the same moment', async () => {
    const answers = await atOnce(5, (n) => give(jobId, { score: n / 5 }));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    const all = await app.store.feedback.ofCalls([jobId]);
    expect(all).toHaveLength(5);
    expect(all.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
  });

  it('is masked as the project wants it now', async () => {
    const own = { name: 'ticket', pattern: 'T-\\d+|comment' };
    await settings({ mask: ['email', 'secret', own] });
    const { body } = await give(jobId, {
      score: 1,
      label: 'ask ada@example.com',
      comment: 'See T-4711.',
      correction: { to: ['bob@example.com', 1], password: 'hunter2' },
    });
    expect(body).toMatchObject({
      score: 1,
      label: 'ask [email]',
      comment: 'See [ticket].',
      correction: { to: ['[email]', 1], password: '[secret]' },
    });
    await settings(null);
    await give(jobId, { comment: 'T-4711' });
    const stored = await app.store.feedback.ofCalls([jobId]);
    expect(stored.map(({ comment }) => comment)).toEqual(['T-4711', 'See [ticket].']);
    const tables = await query(app.database.url, 'SELECT call_feedback::text AS row FROM call_feedback');
    for (const text of [JSON.stringify(tables), JSON.stringify(app.logger.lines)])
      for (const secret of ['ada@', 'bob@', 'hunter2']) expect(text).not.toContain(secret);
  });

  it('that cannot be masked is refused, and not stored', async () => {
    await settings({ mask: ['email'] });
    for (const feedback of [{ label: UNMASKABLE }, { comment: UNMASKABLE }, { correction: { a: [UNMASKABLE] } }]) {
      const answer = await give(jobId, { score: 1, ...feedback });
      expect(answer).toMatchObject(invalid(''));
      expect(answer.body.error).toBe('cannot be masked, so it is not stored: it took too long');
      expect(answer.body.error).not.toContain(UNMASKABLE);
    }
    await settings(null);
    expect(await kept()).toEqual([]);
    expect(JSON.stringify(app.logger.lines)).not.toContain(UNMASKABLE);
  });
});
