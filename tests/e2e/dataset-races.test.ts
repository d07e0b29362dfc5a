import { atOnce } from '../support/barrier.js';
import type { Answer } from '../support/http-caller.js';
import { Pair, tally } from '../support/pair.js';
import { createProject, register } from '../support/workspace.js';

const WRITERS = 8;
const FREEZERS = 4;

describe('writers and freezes of one dataset, through two processes', () => {
  let pair: Pair;
  let token: string;
  let datasets: string;

  beforeAll(async () => {
    pair = await Pair.start();
    ({ token } = await register(pair.one, 'Ada'));
    datasets = `/v1/projects/${await createProject(pair.one, token)}/datasets`;
  });
  afterAll(() => pair.stop());

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
    /** When there is something to race against. */
    const freeze = async (party: number) => {
      while (written.length < WRITERS) await pair.of(party).get(path, token);
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
