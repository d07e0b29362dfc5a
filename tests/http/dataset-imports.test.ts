import { bodyLimits } from '../../src/interfaces/http/body.js';
import { createProject, type Member, register } from '../support/workspace.js';
import { extraFields, forms, many, record } from './support/record-files.js';
import { invalid } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const LIMIT = 5 * 1024 * 1024;

describe('an import', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  let datasets: string;

  beforeAll(async () => {
    app = await TestApp.start();
    admin = await register(app, 'Ada');
    project = await createProject(app, admin.token);
    datasets = `/v1/projects/${project}/datasets`;
  });
  afterAll(() => app.stop());

  const send = (type: string, raw: string | Uint8Array, name = '') =>
    app.call('POST', datasets + name, {
      token: admin.token,
      raw: typeof raw === 'string' ? raw : Buffer.from(raw),
      headers: { 'Content-Type': type },
    });
  const stored = async () => (await app.get(datasets, admin.token)).body.count;
  const refused = async (type: string, raw: string | Uint8Array) => {
    const before = await stored();
    const { status, body } = await send(type, raw);
    expect(await stored()).toBe(before);
    return { status, code: body.code, messages: (body.details ?? []).map((one: { message: string }) => one.message) };
  };
  const telling = (...messages: string[]) => ({ status: 422, code: 'invalid_request', messages });

  const tooMany = (count: number) =>
    `there are ${count} rows, but a dataset may have at most 500 records (SERVICE_DATASET_RECORDS)`;

  describe.each(forms)('as %s', (type, encoded) => {
    it('gives the same records and the same content hash as an import of JSON', async () => {
      const records = many(3, { level: 'easy' });
      const { status, body } = await send(type, encoded(records), '?name=From%20a%20file');
      const same = await app.post(datasets, admin.token, { records });
      expect(status).toBe(201);
      expect(body).toMatchObject({ name: 'From a file', records: same.body.records });
      expect(body.content_sha256).toBe(same.body.content_sha256);
      expect(body.records[0]).toEqual({
        id: 'r0',
        group: 'g',
        input: 'in',
        expected: 'out',
        fields: { level: 'easy' },
      });
    });

    it('accepts 500 records, and not one more', async () => {
      expect((await send(type, encoded(many(500)))).body.record_count).toBe(500);
      expect(await refused(type, encoded(many(501)))).toEqual(telling(tooMany(501)));
    });

    it('maps columns to fields, and keeps the others', async () => {
      const rows = encoded([{ Question: 'France?', 'Answer, short': 'Paris', level: 'easy', expected: 'kept' }]);
      const raw = type === 'text/csv' ? rows.replace('Answer, short', '"Answer, short"') : rows;
      const map = (text: string) => send(type, raw, `?map=${encodeURIComponent(text)}`);
      const { body } = await map('input:Question,expected:Answer, short,group:expected');
      expect(body.records[0]).toEqual({
        id: 'row-1',
        group: 'kept',
        input: 'France?',
        expected: 'Paris',
        fields: { level: 'easy' },
      });
      const columns = '"Question", "Answer, short", "level", "expected"';
      for (const [text, message] of [
        ['input:Frage', `there is no column "Frage": the columns are ${columns}`],
        [
          'expected:Answer, short',
          `"Answer, short" cannot become "expected": another column has that name, so map that one too`,
        ],
        ['input:Question,input:level', 'names "input" twice'],
        ['input:level,group:level', 'names the column "level" twice'],
        ['question:Question', 'must be pairs such as input:Question,expected:Answer, of id, group, input, expected'],
        ['input:', 'must be pairs such as input:Question,expected:Answer, of id, group, input, expected'],
      ]) {
        expect(await map(text as string)).toMatchObject({ status: 422, body: { details: [{ path: 'map', message }] } });
      }
    });

    it('accepts 50 fields, and not one more', async () => {
      const { status, body } = await send(type, encoded([record(1, extraFields(46))]));
      expect({ status, fields: body.records[0].fields }).toEqual({ status: 201, fields: extraFields(46) });
      expect(await refused(type, encoded([record(1, extraFields(47))]))).toEqual(
        telling(
          type === 'text/csv'
            ? 'the first line names 51 columns, but a record may have at most 50 fields'
            : 'row 1: has 51 fields, but a record may have at most 50',
        ),
      );
    });

    it('accepts 5,242,880 bytes, with 500 records of 50 fields, and not one byte more', async () => {
      const value = 'x'.repeat(100);
      const records = many(500, extraFields(46, value));
      const missing = LIMIT - encoded(records).length;
      const whole = encoded([
        ...records.slice(1),
        record(0, { ...extraFields(46, value), field_0: value + 'x'.repeat(missing) }),
      ]);
      expect(whole).toHaveLength(LIMIT);
      const { status, body } = await send(type, whole);
      expect({ status, count: body.record_count }).toEqual({ status: 201, count: 500 });
      expect((await send(type, `${whole} `)).body).toMatchObject({
        code: 'payload_too_large',
        error: 'The body is over the limit of 5242880 bytes (SERVICE_DATASET_IMPORT_MB).',
      });
    });

    it('reports every value that cannot be stored', async () => {
      const records = [record(1, { input: 'a\0' }), record(2, { input: '\0b' }), record(3, { group: 'x'.repeat(201) })];
      const { status, body } = await send(type, encoded(records), `?name=${'n'.repeat(201)}`);
      expect({ status, details: body.details.map(({ message }: { message: string }) => message) }).toEqual({
        status: 422,
        details: [
          'must have 1 to 200 characters',
          'row 1: "input" must not contain the NUL character',
          'row 2: "input" must not contain the NUL character',
          'row 3: "group" must be a string of at most 200 characters',
        ],
      });
      expect(await send(type, encoded(many(1)), '?name=a%00')).toMatchObject(invalid('name'));
    });

    it('accepts field names of at most 200 characters', async () => {
      const [fits, long] = ['ä'.repeat(200), 'ä'.repeat(201)];
      const { body } = await send(type, encoded([record(1, { [fits]: 'x' })]));
      expect(body.records[0].fields).toEqual({ [fits]: 'x' });
      const { messages, ...refusal } = await refused(type, encoded([record(1, { [long]: 'x' })]));
      expect({ ...refusal, count: messages.length }).toEqual({ status: 422, code: 'invalid_request', count: 1 });
      expect(messages[0]).toMatch(new RegExp(`"${'ä'.repeat(100)}…".* more than 200 characters`));
    });
  });

  it('has the same limit of bytes as an update', async () => {
    expect(bodyLimits.dataset).toBe(LIMIT);
    const { body } = await app.post(datasets, admin.token, { records: [] });
    const update = (filler: string) =>
      app.call('PUT', `${datasets}/${body.id}`, {
        token: admin.token,
        raw: `{"version":1,"records":[{"input":"${filler}"}]}`,
      });
    const room = LIMIT - '{"version":1,"records":[{"input":""}]}'.length;
    expect((await update('x'.repeat(room + 1))).status).toBe(413);
    expect((await update('x'.repeat(room))).body.version).toBe(2);
  });

  it('reports all problems of an update, and changes nothing', async () => {
    const { body } = await app.post(datasets, admin.token, { records: [] });
    const records = [{ id: 1 }, 'text', ...many(499)];
    const refusal = await app.put(`${datasets}/${body.id}`, admin.token, { version: 1, name: '', records });
    expect(refusal.body.details.map((one: { message: string }) => one.message)).toEqual([
      'must have 1 to 200 characters',
      tooMany(501),
      'row 1: "id" must be a string of at most 200 characters',
      'row 2: must be an object',
    ]);
    expect((await app.get(`${datasets}/${body.id}`, admin.token)).body.version).toBe(1);
  });

  it('refuses records that are too large due to long names of fields, and does not repeat the names', async () => {
    const row = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}${'🦆'.repeat(198)}`, '']));
    const long = `id,${'n'.repeat(40_000)}\n${'a,b\n'.repeat(500)}`;
    expect(await refused('text/csv', `${Object.keys(row)}\n${`${','.repeat(49)}\n`.repeat(500)}`)).toEqual(
      telling(
        'are over the limit of 16 MiB as JSON, with the names of the fields in each record (3.2 times SERVICE_DATASET_IMPORT_MB)',
      ),
    );
    for (const raw of [long, `${long}c\n`, `${'m'.repeat(40_000)},${'m'.repeat(40_000)}\n`]) {
      const { status, body } = await send('text/csv', raw);
      expect(status).toBe(422);
      expect(JSON.stringify(body).length).toBeLessThan(2_000);
    }
  });

  it('has no columns to map if it names a starter', async () => {
    const refusal = await app.post(`${datasets}?map=input:Question`, admin.token, { starter_id: 'capital-cities' });
    expect(refusal).toMatchObject(invalid('map'));
  });

  it('names all media types that it accepts', async () => {
    const { status, body, headers } = await app.call('POST', datasets, {
      token: admin.token,
      raw: 'x',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(status).toBe(415);
    for (const [type] of forms) expect(body.error).toContain(type);
    expect(headers.get('accept')).toBe(forms.map(([type]) => type).join(', '));
    expect((await send('text/csv; charset=latin1', 'id\n1')).status).toBe(415);
    expect((await send('Text/CSV; header=present; charset="UTF-8"', 'id\n1')).status).toBe(201);
  });

  it('of JSON names the rows that it refuses', async () => {
    const deep = `${'['.repeat(31)}${']'.repeat(31)}`;
    const raw = `{"records":[{"id":1},{"input":${deep}},{"input":0.12345678901234567890}]}`;
    const { status, body } = await send('application/json', raw);
    expect({ status, details: body.details }).toEqual({
      status: 422,
      details: [
        { path: 'records.1', message: 'row 2: must not be nested deeper than 32 levels' },
        {
          path: 'records.2',
          message: 'row 3: the number 0.12345678901234567890 would lose digits: send it as a string',
        },
        { path: 'records.0.id', message: 'row 1: "id" must be a string of at most 200 characters' },
      ],
    });
    const malformed = await send('application/json', '{"records":[{}, {x}]}');
    expect(malformed).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    expect(malformed.body.error).toContain('Row 2 of the records is not JSON');
  });

  describe('of CSV', () => {
    it('accepts quotes, line ends of any kind, a byte order mark, and blank lines', async () => {
      const raw = '\ufeffid, group ,input,note\r\na,,"one ""two"",\nthree",Grüße 🦆\r\n\r\n,g,4,\r\n';
      expect((await send('text/csv', raw)).body.records).toEqual([
        { id: 'a', group: null, input: 'one "two",\nthree', expected: null, fields: { note: 'Grüße 🦆' } },
        { id: 'row-2', group: 'g', input: '4', expected: null, fields: { note: '' } },
      ]);
    });

    it('reads characters of several bytes at any position', async () => {
      const text = `x${'🦆'.repeat(20_000)}`;
      const { body } = await send('text/csv', `input\n${text}\n`);
      expect(body.records[0].input).toBe(text);
    });

    it('reports every row with a wrong number of columns, and all other problems', async () => {
      const raw = `id,input\na,1\nb\n${'c'.repeat(201)},2\nd,1,2\n`;
      expect(await refused('text/csv', raw)).toEqual(
        telling(
          'row 2: has 1 columns, but the first line names 2',
          'row 4: has 3 columns, but the first line names 2',
          'row 3: "id" must be a string of at most 200 characters',
        ),
      );
    });

    it('counts the rows after the limit, however many there are', async () => {
      const raw = `input\n${'a\n'.repeat(2_500_000)}"${'x'.repeat(100_000)}\n"\n`;
      expect(await refused('text/csv', raw)).toEqual(telling(tooMany(2_500_001)));
    });

    it('lists the first of very many problems', async () => {
      const { messages } = await refused('text/csv', `${'a,b,c\n'}${'\n,'.repeat(100_000)}`);
      expect([messages.length, messages[0], messages.at(-1)]).toEqual([
        101,
        tooMany(100_000),
        'has 99901 more problems',
      ]);
    });

    it('refuses missing and repeated column names', async () => {
      expect(await refused('text/csv', 'id,,input,id\n')).toEqual(
        telling(
          'the first line has no name for column 2',
          'the first line names column 4 "id", which another column has',
        ),
      );
      expect(await refused('text/csv', '')).toEqual(telling('the first line must name the columns'));
    });

    it('says on which line a quote is wrong', async () => {
      const advice = 'put text with quotes in it into quotes, and double each quote within';
      expect(await refused('text/csv', 'id,input\na,1\nb,x"y\nc\n')).toEqual(
        telling(`line 3: a quote is where none may be; ${advice}`, 'row 3: has 1 columns, but the first line names 2'),
      );
      expect(await refused('text/csv', 'id,input\na,"1\n')).toEqual(
        telling(expect.stringMatching(/^line \d: a quoted text has no end; /)),
      );
    });

    it('refuses bytes that are not UTF-8', async () => {
      expect(await refused('text/csv', Uint8Array.of(0x69, 0x0a, 0xff))).toEqual(telling('must be UTF-8'));
    });

    it('reads a column named __proto__ as a field', async () => {
      const { body } = await send('text/csv', '__proto__,constructor\n1,2\n');
      expect(JSON.stringify(body.records[0].fields)).toBe('{"__proto__":"1","constructor":"2"}');
    });
  });

  describe('of JSON Lines', () => {
    it('skips blank lines, and keeps the type of every JSON value', async () => {
      const raw = '\ufeff\n{"input":{"a":[1]},"expected":false}\r\n  \n\n{"id":"b","input":0}';
      expect((await send('application/x-ndjson', raw)).body.records).toEqual([
        { id: 'row-1', group: null, input: { a: [1] }, expected: false, fields: {} },
        { id: 'b', group: null, input: 0, expected: null, fields: {} },
      ]);
    });

    it('reads rows of chat messages', async () => {
      const system = { role: 'system', content: 'Be short.' };
      const [user, assistant] = [
        { role: 'user', content: 'France?' },
        { role: 'assistant', content: 'Paris' },
      ];
      const rows = [{ messages: [user, assistant] }, { messages: [system, user, assistant], group: 'g' }];
      const { body } = await send('application/x-ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
      expect(body.validation).toEqual({ valid: true, count: 0, findings: [] });
      expect(body.records).toEqual([
        { id: 'row-1', group: null, input: 'France?', expected: 'Paris', fields: {} },
        { id: 'row-2', group: 'g', input: [system, user], expected: 'Paris', fields: {} },
      ]);
    });

    it('reports every malformed line, and all other problems', async () => {
      const deep = `{"input":${'['.repeat(32)}${']'.repeat(32)}}`;
      const raw = [
        '{"id":1}',
        '',
        '{',
        deep,
        '[]',
        '{"id":"a"} x',
        '{"input":1e999}',
        '{"input":0.12345678901234567890}',
      ].join('\n');
      expect(await refused('application/x-ndjson', raw)).toEqual(
        telling(
          expect.stringMatching(/^line 3 is not JSON/),
          'line 4: must not be nested deeper than 32 levels',
          'line 6 is not JSON: unexpected text at position 11',
          'line 8: the number 0.12345678901234567890 would lose digits: send it as a string',
          'row 1: "id" must be a string of at most 200 characters',
          'row 4: must be an object',
          'row 6: "input" must be a number that fits a double',
        ),
      );
    });
  });
});
