import { randomUUID } from 'node:crypto';
import { atOnce } from '../support/barrier.js';
import type { Answer } from '../support/http-caller.js';
import { Pair, tally } from '../support/pair.js';
import { until } from '../support/until.js';
import { createProject, draftModel, type Member, register, registeredModel } from '../support/workspace.js';

describe('the workspace of a team', () => {
  let pair: Pair;
  let admin: Member;
  beforeAll(async () => {
    pair = await Pair.start();
    admin = await register(pair.one, 'Ada');
  });
  afterAll(() => pair.stop());

  describe('models on two instances', () => {
    let project: string;
    let models: string;

    beforeEach(async () => {
      project = await createProject(pair.one, admin.token);
      models = `/v1/projects/${project}/models`;
    });

    const rowsOf = (table: string) =>
      pair.query<{ id: string; version: number }>(`SELECT * FROM ${table} WHERE project_id = $1`, [project]);

    it('are created once by 16 simultaneous calls with the same request_id', async () => {
      const request = { request_id: randomUUID(), spec: { a: 1, b: 2 } };
      const spellings = [request, { request_id: request.request_id.toUpperCase(), spec: { b: 2, a: 1 } }];
      const create = (party: number) => pair.of(party).post(models, admin.token, spellings[(party >> 1) % 2]);
      const answers = await pair.race('models', 16, create, { queued: 16 });
      expect(tally(answers)).toEqual({ 201: 1, 200: 16 - 1 });
      const [row, ...more] = await rowsOf('models');
      expect(more).toEqual([]);
      expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([row?.id]));
      expect((await pair.one.get(`${models}/${row?.id}/versions`, admin.token)).body.count).toBe(1);
    });

    it('are created once if the answer was lost and the caller asks again', async () => {
      const request = { request_id: randomUUID(), spec: { a: 1 } };
      const gone = new AbortController();
      const send = (signal: AbortSignal) =>
        pair.one.call('POST', models, { token: admin.token, json: request, signal }).then(
          () => 'answered',
          (error: Error) => error.name,
        );
      // The connection breaks before the call has written.
      expect(await pair.race('models', 1, () => send(gone.signal), { whileHeld: () => gone.abort() })).toEqual([
        'AbortError',
      ]);
      await until('the first call has written', async () => (await rowsOf('models')).length > 0);
      const [row] = await rowsOf('models');
      const again = await pair.other.post(models, admin.token, request);
      expect(again).toMatchObject({ status: 200, body: { id: row?.id, version: 1, spec: request.spec } });
      expect(await rowsOf('models')).toHaveLength(1);
    });

    it('accept exactly one of 16 updates and registrations of the same version', async () => {
      const { id } = await draftModel(pair.one, admin.token, project);
      const at = `${models}/${id}`;
      const change = (party: number) =>
        party % 4 === 0
          ? pair.of(party >> 2).post(`${at}/register`, admin.token, { version: 1 })
          : pair.of(party).put(at, admin.token, { version: 1, spec: { written_by: party } });
      const answers = await pair.race('models', 16, change, { queued: 12 });
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      const registered = won[0]?.body.state === 'registered';
      expect(tally(answers)).toEqual({ 200: 1, [registered ? '409 model_registered' : '409 stale_version']: 15 });
      const stored = (await pair.other.get(at, admin.token)).body;
      expect(stored).toEqual(won[0]?.body);
      expect((await pair.one.get(`${at}/versions`, admin.token)).body.count).toBe(stored.version);
    });

    describe('8 moves of an alias at once', () => {
      const MOVES = 8;
      let aliases: string;
      /** Names the model to which each party moves the alias. */
      let targets: string[];
      let first: string;
      beforeAll(async () => {
        const shared = await createProject(pair.one, admin.token);
        aliases = `/v1/projects/${shared}/models/aliases`;
        const created = await atOnce(MOVES + 1, (party) =>
          registeredModel(pair.of(party), admin.token, shared, { party }),
        );
        [first, ...targets] = created as [string, ...string[]];
      });
      const set = (party: number, alias: string, json: object) =>
        pair.of(party).put(`${aliases}/${alias}`, admin.token, json);

      it.each([
        ['a new alias', 0],
        ['an existing alias', 1],
      ])('have consecutive versions, and none is lost (%s)', async (_, before) => {
        const alias = `moved-${before}`;
        if (before) await set(0, alias, { model_id: first });
        const answers = await pair.race('model_aliases', MOVES, (party) =>
          set(party, alias, { model_id: targets[party] }),
        );
        expect(tally(answers)).toEqual({ 200: MOVES });
        const versions = answers.map(({ body }) => body.version as number).sort((a, b) => a - b);
        expect(versions).toEqual(Array.from({ length: MOVES }, (_, n) => before + n + 1));
        const { history } = (await pair.one.get(`${aliases}/${alias}`, admin.token)).body;
        const moved = answers.map(({ body }) => [body.version, body.model_id]);
        const kept = history.map(({ version, model_id }: { version: number; model_id: string }) => [version, model_id]);
        expect(kept).toEqual([...moved, ...(before ? [[1, first]] : [])].sort(([a], [b]) => b - a));
      });

      it('leave 100 aliases at most', async () => {
        const model = await registeredModel(pair.one, admin.token, project, {});
        const values = Array.from(
          { length: 98 },
          (_, n) => `($1, 'old-${n}', 1, $2, 'usr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', now())`,
        );
        await pair.query(`INSERT INTO model_aliases VALUES ${values}`, [project, model]);
        const move = (party: number) =>
          pair.of(party).put(`${models}/aliases/new-${party}`, admin.token, { model_id: model });
        const answers = await pair.race('model_aliases', MOVES, move);
        expect(tally(answers)).toEqual({ 200: 2, '422 invalid_request': MOVES - 2 });
        expect((await pair.other.get(`${models}/aliases`, admin.token)).body.count).toBe(100);
      });
    });
  });

  const WRITERS = 8;
  const FREEZERS = 4;

  describe('datasets on two instances', () => {
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

    it('accept exactly one of 16 updates of the same version', async () => {
      const { id } = await imported();
      const update = (party: number) =>
        pair.of(party).put(`${datasets}/${id}`, token, { version: 1, records: records(`by ${party}`) });
      const outcomes = await pair.race('datasets', 16, update, { queued: 16 });
      expect(tally(outcomes)).toEqual({ 200: 1, '409 stale_version': 15 });
      const stale = outcomes.filter(({ status }) => status === 409).map(({ body }) => body.details[0].current);
      expect(stale).toEqual(stale.map(() => 2));
      const winner = outcomes.find(({ status }) => status === 200)?.body;
      expect((await pair.other.get(`${datasets}/${id}`, token)).body).toEqual(winner);
    });

    it('accept either one update or one freeze of the same version', async () => {
      const { id } = await imported();
      const change = (party: number) =>
        party % 4 < 2
          ? freezeOf(party, id)
          : pair.of(party).put(`${datasets}/${id}`, token, { version: 1, records: records(`by ${party}`) });
      const outcomes = await pair.race('datasets', 8, change, { queued: 4 });
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

      /** Writes one version after the other until the dataset is frozen. */
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
      /** Freezes the dataset after the first writes. */
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
});
