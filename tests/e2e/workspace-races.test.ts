import { randomUUID } from 'node:crypto';
import { atOnce } from '../support/barrier.js';
import type { Answer } from '../support/http-caller.js';
import { Pair, tally } from '../support/pair.js';
import { until } from '../support/until.js';
import { createProject, draftModel, type Member, register, registeredModel } from '../support/workspace.js';

let pair: Pair;
let admin: Member;
beforeAll(async () => {
  pair = await Pair.start();
  admin = await register(pair.one, 'Ada');
});
afterAll(() => pair.stop());

describe('32 writers of one project, on two processes', () => {
  it('win each version exactly once; whoever loses is told the current one', async () => {
    const id = await createProject(pair.one, admin.token);
    const rounds = 2;
    const winners: number[] = [];
    const writer = async (n: number) => {
      let version = 1;
      for (let round = 0; round < rounds; round++) {
        const { status, body } = await pair.of(n).put(`/v1/projects/${id}`, admin.token, { version, spec: { by: n } });
        if (status === 200) winners.push(body.version);
        else expect({ status, code: body.code }).toEqual({ status: 409, code: 'stale_version' });
        version = status === 200 ? body.version : body.details[0].current;
      }
    };
    await Promise.all(Array.from({ length: 32 }, (_, n) => writer(n)));
    const { body } = await pair.other.get(`/v1/projects/${id}`, admin.token);
    expect(winners.sort((a, b) => a - b)).toEqual(winners.map((_, index) => index + 2));
    expect(body.version).toBe(winners.length + 1);
    const history = await pair.one.get(`/v1/projects/${id}/versions?limit=1000`, admin.token);
    expect(history.body.count).toBe(body.version);
  });
});

const PARTIES = 16;

describe('models on two processes', () => {
  let project: string;
  let models: string;

  beforeEach(async () => {
    project = await createProject(pair.one, admin.token);
    models = `/v1/projects/${project}/models`;
  });

  const rounds = [
    ['held until all have looked', true],
    ['as they come', false],
  ] as const;
  const meet = (held: boolean, table: string, act: (party: number) => Promise<Answer>, parties = PARTIES) =>
    held ? pair.race(table, parties, act) : atOnce(parties, act);
  const rowsOf = (table: string) =>
    pair.query<{ id: string; version: number }>(`SELECT * FROM ${table} WHERE project_id = $1`, [project]);

  it.each(rounds)('make one model of the same request_id 16 times at once (%s)', async (_, held) => {
    const request = { request_id: randomUUID(), spec: { a: 1, b: 2 } };
    const spellings = [request, { request_id: request.request_id.toUpperCase(), spec: { b: 2, a: 1 } }];
    const answers = await meet(held, 'models', (party) =>
      pair.of(party).post(models, admin.token, spellings[(party >> 1) % 2]),
    );
    expect(tally(answers)).toEqual({ 201: 1, 200: PARTIES - 1 });
    const [row, ...more] = await rowsOf('models');
    expect(more).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([row?.id]));
    expect((await pair.one.get(`${models}/${row?.id}/versions`, admin.token)).body.count).toBe(1);
  });

  it('make one model when the answer got lost and the caller asks again', async () => {
    const request = { request_id: randomUUID(), spec: { a: 1 } };
    const gone = new AbortController();
    const send = (signal: AbortSignal) =>
      pair.one.call('POST', models, { token: admin.token, json: request, signal }).then(
        () => 'answered',
        (error: Error) => error.name,
      );
    // The call stands before its write when its connection breaks.
    expect(
      await pair.race(
        'models',
        1,
        () => send(gone.signal),
        () => gone.abort(),
      ),
    ).toEqual(['AbortError']);
    await until('the first call has written', async () => (await rowsOf('models')).length > 0);
    const [row] = await rowsOf('models');
    const again = await pair.other.post(models, admin.token, request);
    expect(again).toMatchObject({ status: 200, body: { id: row?.id, version: 1, spec: request.spec } });
    expect(await rowsOf('models')).toHaveLength(1);
  });

  it.each(rounds)('let one of 16 writers and registrations of the same version win (%s)', async (_, held) => {
    const { id } = await draftModel(pair.one, admin.token, project);
    const at = `${models}/${id}`;
    const answers = await meet(held, 'models', (party) =>
      party % 4 === 0
        ? pair.of(party >> 2).post(`${at}/register`, admin.token, { version: 1 })
        : pair.of(party).put(at, admin.token, { version: 1, spec: { written_by: party } }),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const registered = won[0]?.body.state === 'registered';
    expect(tally(answers)).toEqual({ 200: 1, [registered ? '409 model_registered' : '409 stale_version']: 15 });
    const stored = (await pair.other.get(at, admin.token)).body;
    expect(stored).toEqual(won[0]?.body);
    expect((await pair.one.get(`${at}/versions`, admin.token)).body.count).toBe(stored.version);
  });

  it.each(rounds)('never both register and delete a draft (%s)', async (_, held) => {
    const { id } = await draftModel(pair.one, admin.token, project);
    const at = `${models}/${id}`;
    const answers = await meet(held, 'models', (party) =>
      party % 2
        ? pair.of(party >> 1).delete(at, admin.token)
        : pair.of(party >> 1).post(`${at}/register`, admin.token, { version: 1 }),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const refused = won[0]?.body.deleted ? '404 not_found' : '409 model_registered';
    expect(tally(answers)).toEqual({ 200: 1, [refused]: PARTIES - 1 });
    expect(await rowsOf('models')).toHaveLength(won[0]?.body.deleted ? 0 : 1);
  });

  describe('8 moves of an alias at once', () => {
    const MOVES = 8;
    let aliases: string;
    /** Models to move to: one for each party. */
    let targets: string[];
    let first: string;
    beforeAll(async () => {
      const shared = await createProject(pair.one, admin.token);
      aliases = `/v1/projects/${shared}/models/aliases`;
      const made = await atOnce(MOVES + 1, (party) => registeredModel(pair.of(party), admin.token, shared, { party }));
      [first, ...targets] = made as [string, ...string[]];
    });
    const set = (party: number, alias: string, json: object) =>
      pair.of(party).put(`${aliases}/${alias}`, admin.token, json);

    it.each(
      rounds.flatMap(([name, held]) => [
        [name, 'a new one', held, 0] as const,
        [name, 'one that is there', held, 1] as const,
      ]),
    )('have consecutive versions, and none is lost (%s, %s)', async (_, __, held, before) => {
      const alias = `moved-${held}-${before}`;
      if (before) await set(0, alias, { model_id: first });
      const answers = await meet(
        held,
        'model_aliases',
        (party) => set(party, alias, { model_id: targets[party] }),
        MOVES,
      );
      expect(tally(answers)).toEqual({ 200: MOVES });
      const versions = answers.map(({ body }) => body.version as number).sort((a, b) => a - b);
      expect(versions).toEqual(Array.from({ length: MOVES }, (_, n) => before + n + 1));
      const { history } = (await pair.one.get(`${aliases}/${alias}`, admin.token)).body;
      const moved = answers.map(({ body }) => [body.version, body.model_id]);
      const told = history.map(({ version, model_id }: { version: number; model_id: string }) => [version, model_id]);
      expect(told).toEqual([...moved, ...(before ? [[1, first]] : [])].sort(([a], [b]) => b - a));
    });

    it.each(rounds)('let one win when all name the same version (%s)', async (_, held) => {
      const alias = `guarded-${held}`;
      await set(0, alias, { model_id: first });
      const move = (party: number) => set(party, alias, { model_id: targets[party], version: 1 });
      const answers = await meet(held, 'model_aliases', move, MOVES);
      expect(tally(answers)).toEqual({ 200: 1, '409 stale_version': MOVES - 1 });
    });

    it.each(rounds)('leave 100 aliases at most (%s)', async (_, held) => {
      const model = await registeredModel(pair.one, admin.token, project, {});
      const values = Array.from(
        { length: 98 },
        (_, n) => `($1, 'old-${n}', 1, $2, 'usr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', now())`,
      );
      await pair.query(`INSERT INTO model_aliases VALUES ${values}`, [project, model]);
      const move = (party: number) =>
        pair.of(party).put(`${models}/aliases/new-${party}`, admin.token, { model_id: model });
      const answers = await meet(held, 'model_aliases', move, MOVES);
      expect(tally(answers)).toEqual({ 200: 2, '422 invalid_request': MOVES - 2 });
      expect((await pair.other.get(`${models}/aliases`, admin.token)).body.count).toBe(100);
    });
  });
});

const WRITERS = 8;
const FREEZERS = 4;

describe('writers and freezes of one dataset, through two processes', () => {
  let token: string;
  let datasets: string;

  beforeAll(async () => {
    token = admin.token;
    datasets = `/v1/projects/${await createProject(pair.one, token)}/datasets`;
  });

  const records = (text: string) => [{ id: 'a', input: text, expected: 'x' }];
  const imported = async () => (await pair.one.post(datasets, token, { records: records('first') })).body;
  const freezeOf = (party: number, id: string) =>
    pair.of(party).call('POST', `${datasets}/${id}/freeze`, { token, json: { version: 1 } });

  it('give every version to exactly one writer', async () => {
    const { id } = await imported();
    const outcomes = await pair.race('datasets', 16, (party) =>
      pair.of(party).put(`${datasets}/${id}`, token, { version: 1, records: records(`by ${party}`) }),
    );
    expect(tally(outcomes)).toEqual({ 200: 1, '409 stale_version': 15 });
    const stale = outcomes.filter(({ status }) => status === 409).map(({ body }) => body.details[0].current);
    expect(stale).toEqual(stale.map(() => 2));
    const winner = outcomes.find(({ status }) => status === 200)?.body;
    expect((await pair.other.get(`${datasets}/${id}`, token)).body).toEqual(winner);
  });

  it('let either the writer or the freeze have the version that both have read', async () => {
    const { id } = await imported();
    const outcomes = await pair.race('datasets', 8, (party) =>
      party % 4 < 2
        ? freezeOf(party, id)
        : pair.of(party).put(`${datasets}/${id}`, token, { version: 1, records: records(`by ${party}`) }),
    );
    const [winner, ...more] = outcomes.filter(({ status }) => status === 200).map(({ body }) => body);
    expect(more).toEqual([]);
    const code = winner.state === 'frozen' ? 'dataset_frozen' : 'stale_version';
    expect(tally(outcomes)).toEqual({ 200: 1, [`409 ${code}`]: 7 });
    expect((await pair.one.get(`${datasets}/${id}`, token)).body).toEqual(winner);
  });

  it('freeze once, and acknowledge no write that begins afterwards', async () => {
    const { id } = await imported();
    const path = `${datasets}/${id}`;
    let acknowledged: Answer | null = null;
    const written: Answer[] = [];

    /** Writes the next version again and again, until told that the dataset is frozen. */
    const write = async (party: number) => {
      for (let round = 0; ; round++) {
        const { version } = (await pair.of(party).get(path, token)).body;
        const late = acknowledged !== null;
        const change = { version, records: records(`by ${party}, round ${round}`) };
        const answer = await pair.of(party).put(path, token, change);
        if (answer.status === 200) {
          expect(late).toBe(false);
          written.push(answer);
        } else expect(answer.status).toBe(409);
        if (answer.body.code === 'dataset_frozen') return;
      }
    };
    /** Waits until there are writes to race against. */
    const freeze = async (party: number) => {
      await until('there are versions', () => written.length >= WRITERS, 5);
      const answer = await pair.of(party).call('POST', `${path}/freeze`, { token });
      if (answer.status === 200) acknowledged = answer;
      return answer;
    };
    const [freezes] = await Promise.all([atOnce(FREEZERS, freeze), atOnce(WRITERS, write)]);

    const [frozen, ...more] = freezes.filter(({ status }) => status === 200).map(({ body }) => body);
    expect(more).toEqual([]);
    expect(freezes.filter(({ body }) => body.code === 'dataset_frozen')).toHaveLength(FREEZERS - 1);
    const versions = written.map(({ body }) => body.version as number).sort((a, b) => a - b);
    expect(versions).toEqual(versions.map((_, n) => n + 2));
    expect(frozen.version).toBe(versions.length + 1);
    const last = written.find(({ body }) => body.version === frozen.version)?.body;
    expect(frozen).toMatchObject({ content_sha256: last.content_sha256, records: last.records, state: 'frozen' });
    for (const one of [pair.one, pair.other]) expect((await one.get(path, token)).body).toEqual(frozen);
    expect((await pair.one.get(`${path}/versions/${frozen.version}`, token)).body.records).toEqual(frozen.records);
  });
});
