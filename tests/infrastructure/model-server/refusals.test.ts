import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { requestModel } from '../../../src/infrastructure/model-server/model-client.js';
import { prediction } from '../../support/model-server/local-model-server-rig.js';
import { echo, MadeModels, onnxTypes } from '../../support/model-server/serving-models.js';
import { fixture, ServingProcess } from '../../support/model-server/serving-process.js';
import { residentMemory } from '../../support/onnx/processes.js';

describe('a request to a model server', () => {
  const models = new MadeModels();
  const binary = (length: number) => Buffer.alloc(length);
  let iris: ServingProcess;
  let multi: ServingProcess;
  let all: ServingProcess;
  let scalar: ServingProcess;
  beforeAll(async () => {
    [iris, multi, all, scalar] = await Promise.all([
      ServingProcess.start(fixture('iris.onnx'), { name: 'iris', bodyLimit: 100_000 }),
      ServingProcess.start(fixture('multi.onnx'), { name: 'multi' }),
      ServingProcess.start(models.file('all', echo(onnxTypes))),
      ServingProcess.start(models.file('scalar', echo({ x: onnxTypes.FP32 }, []))),
    ]);
  });
  afterAll(async () => {
    await Promise.all([iris, multi, all, scalar].map((one) => one.end()));
    models.remove();
  });

  const four = [1, 2, 3, 4];
  it.each<[string, unknown, string, RegExp]>([
    ['no inputs', undefined, 'inputs', /must be an object, not missing/],
    ['a missing input', {}, 'inputs.input', /input "input" is missing; it is FP32 of shape \[-1,4\]/],
    ['an unknown input', { input: [four], x: 1 }, 'inputs.x', /the model has no input "x"; it takes "input"/],
    [
      'too few dimensions',
      { input: four },
      'inputs.input',
      /takes the shape \[-1,4\], not \[4\] \(2 dimensions, not 1\)/,
    ],
    ['a wrong dimension', { input: [[1, 2]] }, 'inputs.input', /takes the shape \[-1,4\], not \[1,2\]/],
    [
      'an uneven array',
      { input: [four, [1, 2]] },
      'inputs.input',
      /nested arrays that differ in length or depth: \[1\] has 2 elements/,
    ],
    ['a word', { input: [[1, 2, 'x', 4]] }, 'inputs.input', /element 2 .* must be a number \(FP32\), not a string/],
    ['too large a number', { input: [[1, 2, 1e39, 4]] }, 'inputs.input', /element 2 .* beyond the range of FP32/],
    ['no data', { input: { shape: [1, 4] } }, 'inputs.input', /has no data/],
    ['another type', { input: { data: [four], datatype: 'FP64' } }, 'inputs.input.datatype', /takes FP32, not FP64/],
    ['a negative dimension', { input: { data: four, shape: [-1, 4] } }, 'inputs.input.shape[0]', /whole number from 0/],
    [
      'a huge shape',
      { input: { data: four, shape: [1e15, 4] } },
      'inputs.input',
      /needs 4000000000000000 elements, not 4/,
    ],
    ['another nesting', { input: { data: [four], shape: [2, 4] } }, 'inputs.input', /nested as \[1,4\].*says \[2,4\]/],
    ['base64 without a shape', { input: { data: 'AAAA' } }, 'inputs.input', /in base64, which needs a shape/],
    ['no base64', { input: { data: 'A*AA', shape: [1, 4] } }, 'inputs.input.data', /not base64/],
    ['short base64', { input: { data: 'AAAA', shape: [1, 4] } }, 'inputs.input', /type FP32 needs 16 bytes, not 3/],
    ['a prototype', JSON.parse('{"input": [[1,2,3,4]], "__proto__": 1}'), 'inputs.__proto__', /no input "__proto__"/],
  ])('is refused with %s', async (_, inputs, path, message) => {
    const { status, body, headers } = await iris.predict(inputs);
    expect(status).toBe(422);
    expect(body).toMatchObject({ status: 'error', code: 'invalid_request', details: [{ path }] });
    expect(body.details[0].message).toMatch(message);
    expect(body.error).toContain(body.details[0].message);
    expect(body.request_id).toBe(headers.get('X-Request-Id'));
  });

  const fine = { FP32: [], FP64: [], FP16: [], BOOL: [], BYTES: [] };
  const integers = Object.fromEntries(Object.keys(onnxTypes).map((type) => [type, []]));
  it.each<[keyof typeof onnxTypes, unknown, RegExp]>([
    ['FP16', 70_000, /beyond the range of FP16/],
    ['FP64', '1', /must be a number \(FP64\), not a string/],
    ['INT8', 128, /\(128\) is outside the range of INT8, -128 to 127/],
    ['UINT8', -1, /\(-1\) is outside the range of UINT8/],
    ['INT32', 1.5, /\(1.5\) is not a whole number/],
    ['INT32', '1', /must be a whole number \(INT32\), not a string/],
    ['INT64', '9223372036854775808', /outside the range of INT64/],
    ['INT64', 0.5, /not a whole number/],
    ['INT64', '0x10', /a whole number, or one as a string of digits/],
    ['UINT64', '-1', /outside the range of UINT64/],
    ['BOOL', 1, /must be true or false \(BOOL\), not a number/],
    ['BYTES', 1, /must be a string \(BYTES\), not a number/],
    ['BYTES', 'a\0b', /must not contain the NUL character/],
    ['BYTES', '\ud800', /half of a surrogate pair/],
  ])('is refused with an element that is no %s (%#)', async (type, value, message) => {
    const { status, body } = await all.predict({ ...integers, ...fine, [type]: [value] });
    expect(status).toBe(422);
    expect(body.details).toEqual([{ path: `inputs.${type}`, message: expect.stringMatching(message) }]);
  });

  it('gets all its problems in one answer', async () => {
    const { body } = await multi.predict({ name: [1], quantity: [0.5], unit_price: ['x'] });
    const paths = body.details.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['inputs.name', 'inputs.quantity', 'inputs.unit_price', 'inputs.member']);
    expect(body.error).toContain('(and 3 more)');
  });

  it('gets the message of a failure in the model, without places in the source', async () => {
    const { status, body } = await multi.predict({ name: [], quantity: [1, 2, 3], unit_price: [1, 2], member: [true] });
    expect(status).toBe(422);
    expect(body.code).toBe('invalid_request');
    expect(body.error).toMatch(/^The model failed on this input: .*Mul node.*2 by 3/);
    expect(body.error).not.toMatch(/\.h:|\.cc:|onnxruntime_src/);
    expect(body.details).toEqual([{ path: 'inputs', message: expect.stringMatching(/Mul node.*2 by 3/) }]);
  });

  it('may not have an empty tensor with a huge dimension', async () => {
    expect((await scalar.predict({ x: { data: [], shape: [0, 1_000_000] } })).status).toBe(200);
    const { status, body } = await scalar.predict({ x: { data: [], shape: [0, 2 ** 40] } });
    expect([status, body.details[0].message]).toEqual([422, expect.stringContaining('too large')]);
  });

  const input = { name: 'input', shape: [1, 4], datatype: 'FP32' };
  it.each<[string, unknown[] | undefined, object, string, RegExp]>([
    ['no array of inputs', undefined, { inputs: {} }, 'inputs', /must be an array/],
    ['no name', [{ shape: [1, 4], datatype: 'FP32', data: four }], {}, 'inputs[0].name', /must be a string/],
    ['an input twice', [input, input].map((one) => ({ ...one, data: four })), {}, 'inputs[1].name', /is there twice/],
    ['no shape', [{ name: 'input', datatype: 'FP32', data: four }], {}, 'inputs[0].shape', /needs a shape/],
    ['no datatype', [{ name: 'input', shape: [1, 4], data: four }], {}, 'inputs[0].datatype', /needs a datatype/],
    ['an unknown output', [{ ...input, data: four }], { outputs: [{ name: 'z' }] }, 'outputs[0].name', /no output "z"/],
    ['an id that is no text', [{ ...input, data: four }], { id: 7 }, 'id', /must be a string/],
    ['short binary data', [{ ...input, data: binary(15) }], {}, 'inputs[0]', /needs 16 bytes, not 15/],
    ['long binary data', [{ ...input, data: binary(17) }], {}, 'inputs[0]', /needs 16 bytes, not 17/],
    [
      'shared memory',
      [{ ...input, data: four, parameters: { shared_memory_region: 'x' } }],
      {},
      'inputs[0].parameters.shared_memory_region',
      /not offered/,
    ],
  ])('of the inference protocol is refused with %s', async (_, inputs, more, path, message) => {
    const { status, body } = await iris.infer((inputs ?? []) as never, more);
    expect(status).toBe(422);
    expect(body.details[0]).toEqual({ path, message: expect.stringMatching(message) });
  });

  it.each<[string, string, RegExp]>([
    ['beyond the body', '100000', /at most the length of the body/],
    ['no number', '-1', /whole number of bytes/],
    ['that leaves bytes over', '', /use 16 bytes of binary data, 20 were sent/],
  ])('is refused with a length of the JSON %s', async (_, length, message) => {
    const json = JSON.stringify({ inputs: [{ ...input, parameters: { binary_data_size: 16 } }] });
    const headers = { 'Inference-Header-Content-Length': length || String(json.length) };
    const { status, body } = await iris.post('/v2/models/iris/infer', `${json}${'\0'.repeat(20)}`, headers);
    expect(status).toBe(422);
    expect(body.error).toMatch(message);
  });

  it.each<[string, string, string, Buffer, RegExp]>([
    [
      'strings that are cut off',
      'name',
      'BYTES',
      Buffer.from([9, 0, 0, 0, 65]),
      /element 0 of input "name" is cut off/,
    ],
    ['strings of no UTF-8', 'name', 'BYTES', Buffer.from([1, 0, 0, 0, 0xff]), /element 0 of input "name" is not UTF-8/],
    ['too many strings', 'name', 'BYTES', binary(8), /more bytes after its 1 elements/],
    ['too few strings', 'name', 'BYTES', binary(0), /needs 1 elements, not 0/],
    ['bad booleans', 'member', 'BOOL', Buffer.from([2]), /element 0 of input "member" must be the byte 0 or 1/],
  ])('is refused with binary data of %s', async (_, name, datatype, data, message) => {
    const inputs = [{ name, shape: [1], datatype, data }];
    const { body } = await multi.infer(inputs);
    expect(body.details[0].message).toMatch(message);
  });

  const coded = (coding: string) => ({ 'Content-Encoding': coding, 'Content-Type': 'application/json' });
  const half = gzipSync('{"inputs":[]}').subarray(0, -9) as never;
  it.each<[number, string, string, string, RequestInit]>([
    [404, 'not_found', 'an unknown path', '/nothing', {}],
    [404, 'not_found', 'a path of the prototype', '/__proto__', {}],
    [404, 'not_found', "another model's name", '/v2/models/other', {}],
    [404, 'not_found', 'another version', '/v2/models/iris/versions/2', {}],
    [404, 'not_found', 'a name that is no text', '/v2/models/%ff', {}],
    [405, 'method_not_allowed', 'a wrong method', '/predict', {}],
    [405, 'method_not_allowed', 'a wrong method', '/health', { method: 'DELETE' }],
    [415, 'unsupported_media_type', 'another type', '/predict', { method: 'POST', body: 'x' }],
    [400, 'malformed_json', 'no JSON', '/predict', { body: '{"inputs":' }],
    [400, 'malformed_json', 'an empty body', '/predict', { body: '' }],
    [400, 'malformed_json', 'no UTF-8', '/predict', { body: Buffer.from([0x22, 0xff, 0x22]) as never }],
    [422, 'invalid_request', 'deep nesting', '/predict', { body: '['.repeat(50_000) }],
    [413, 'payload_too_large', 'a large body', '/predict', { body: ' '.repeat(100_001) }],
    [415, 'unsupported_media_type', 'text', '/v2/models/iris/infer', { method: 'POST', body: 'x' }],
    [415, 'unsupported_media_type', 'brotli', '/v2/models/iris/infer', { body: 'x', headers: coded('br') }],
    [
      415,
      'unsupported_media_type',
      'two codings',
      '/v2/models/iris/infer',
      { body: 'x', headers: coded('gzip, gzip') },
    ],
    [400, 'bad_request', 'no gzip', '/v2/models/iris/infer', { body: 'x', headers: coded('gzip') }],
    [400, 'bad_request', 'half of gzip', '/v2/models/iris/infer', { body: half, headers: coded('gzip') }],
    [400, 'bad_request', 'no deflate', '/predict', { body: '{}', headers: coded('deflate') }],
  ])('gets %i %s: %s', async (status, code, problem, path, { method, ...init }) => {
    const isJson = init.body !== undefined && method === undefined;
    const headers: Record<string, string> = isJson ? { 'Content-Type': 'application/json' } : {};
    const sent = { method: method ?? (isJson ? 'POST' : 'GET'), headers, ...init };
    const response = await fetch(`${iris.url}${path}`, sent);
    const body = (await response.json()) as { request_id: string };
    expect([response.status, body]).toEqual([
      status,
      {
        status: 'error',
        code,
        error: expect.any(String),
        request_id: expect.stringMatching(/^req_/),
        ...details(code),
      },
    ]);
    expect(response.headers.get('Accept-Encoding')).toBe(/ codings|brotli/.test(problem) ? 'gzip, deflate' : null);
    if (status === 405) expect(response.headers.get('Allow')).toBe(path === '/predict' ? 'POST' : 'GET');
  });

  const details = (code: string) => (code === 'invalid_request' ? { details: expect.any(Array) } : {});

  /** Sends exactly this text. Returns the beginning of the answer. */
  const raw = async (text: string): Promise<string> => {
    const socket = connect(Number(new URL(iris.url).port), '127.0.0.1').setEncoding('utf8');
    socket.write(text);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    return answer;
  };

  it('is refused with a body of unknown length that grows too large', async () => {
    const chunk = `${(60_000).toString(16)}\r\n${' '.repeat(60_000)}\r\n`;
    const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const answer = await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`);
    expect(answer).toMatch(/^HTTP\/1.1 413 .*"code":"payload_too_large"/s);
  });

  it('always gets its refusal, even if the rest of its body is on the way', async () => {
    async function* chunks() {
      for (let n = 0; n < 200; n++) {
        yield binary(64 * 1_024);
        await setImmediate();
      }
    }
    const send = () => {
      const call = prediction({ length: null, chunks: chunks() });
      return requestModel(iris.url, 'iris', call, 30_000, new AbortController().signal);
    };
    for (let round = 0; round < 5; round++)
      for (const { status } of await Promise.all(Array.from({ length: 8 }, send))) expect(status).toBe(413);
  });

  it('takes little memory with a small body that decompresses to a large one', async () => {
    const before = process.platform === 'linux' ? residentMemory(iris.pid) : 0;
    const bomb = gzipSync(Buffer.alloc(64 * 1_024 ** 2, ' '));
    const refused = await iris.post('/v2/models/iris/infer', bomb, { 'Content-Encoding': 'gzip' });
    expect([bomb.length < 100_000, refused.status, refused.body.code]).toEqual([true, 413, 'payload_too_large']);
    if (process.platform === 'linux') expect(residentMemory(iris.pid) - before).toBeLessThan(24 * 1_024 ** 2);
  });

  it('is refused if it is no HTTP', async () => {
    expect(await raw('BREW /coffee\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"code":"bad_request"/s);
  });

  it("keeps the caller's request id if it is valid", async () => {
    expect((await iris.get('/x', { 'X-Request-Id': 'mine_1' })).headers.get('X-Request-Id')).toBe('mine_1');
    expect((await iris.get('/x', { 'X-Request-Id': 'a b' })).headers.get('X-Request-Id')).toMatch(/^req_/);
  });

  it.each([
    [400, 'evil.example'],
    [400, '127.0.0.1.evil.example:80'],
    [400, 'localhost@evil'],
    [200, 'LOCALHOST:1234'],
    [200, '[::1]:80'],
    [200, '127.0.0.1'],
  ])('gets %i for the host %s', async (status, host) => {
    for (const path of ['/health', '/v2']) {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      if (status === 400) expect(answer).toContain('"code":"bad_request"');
    }
  });
});
