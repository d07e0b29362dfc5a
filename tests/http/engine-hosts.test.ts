import dns = require('node:dns');

import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { HOSTILE_URLS, PATTERN } from '../support/hostile-urls.js';
import { until } from '../support/until.js';
import { createProject, type Member, register, registeredModel } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

describe('a pattern in SERVICE_RUNTIME_ALLOWED_HOSTS', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;

  beforeAll(async () => {
    app = await TestApp.start({
      adapt: (container) => container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope(),
      env: {
        SERVICE_RUNTIME_ALLOWED_HOSTS: PATTERN,
        SERVICE_RUNTIME_KEY_ANY: 'sk-any',
        SERVICE_DEPLOYMENT_START_TIMEOUT_S: '0.5',
      },
    });
    admin = await register(app, 'Ada');
    await app.verifyEmails();
    project = await createProject(app, admin.token);
  });
  afterAll(async () => {
    await app.container.get(ChatRuntimes).close();
    await app.container.get(ModelServer).close();
    await app.stop();
  });

  /** Makes a model with this address the runtime of the project. */
  const runtime = async (base_url: string, more: object = {}) => {
    const model = await registeredModel(app, admin.token, project, {
      runtime: 'openai',
      base_url,
      model: 'm',
      ...more,
    });
    const { status, body } = await app.put(`/v1/projects/${project}/runtime`, admin.token, { model_id: model });
    return { status, error: body.error };
  };
  const deployment = async (endpoint: string, more: object = {}) => {
    const json = { name: 'iris', endpoint, model_name: 'iris', ...more };
    const { status, body } = await app.post('/v1/deployments', admin.token, json);
    return { status, error: body.error };
  };

  it('allows a host that it matches for runtimes and deployments', async () => {
    expect(await runtime('http://vllm.models.svc.cluster.local:8000/v1')).toMatchObject({ status: 200 });
    // The service has tried to connect, but no such host exists here.
    expect(await deployment('http://iris-predictor.models.svc.cluster.local')).toEqual({
      status: 422,
      error: expect.stringMatching(/^The endpoint does not serve the model: /),
    });
  });

  it.each(HOSTILE_URLS)('allows neither a runtime nor a deployment on %s', async (url) => {
    expect(await runtime(url)).toEqual({ status: 422, error: expect.stringMatching(/^spec\.base_url: must /) });
    expect(await deployment(url)).toEqual({ status: 422, error: expect.stringMatching(/^endpoint: must /) });
  });

  it.each([
    [['169.254.169.254'], 'has an address that engines must not have'],
    [['::ffff:169.254.169.254', 'fd00:ec2::254', 'fe80::a9fe:a9fe%1', '168.63.129.16'], 'has an address'],
    [['fd00:ec2::23', '64:ff9b::a9fe:a9fe', '192.0.0.192'], 'has an address'],
    [['169.254.169.254', '127.0.0.1'], 'refuses connections'], // only the other address is used
  ])('does not call a metadata service, to which the name %s resolves', async (addresses, reason) => {
    const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const lookup = jest.spyOn(dns, 'lookup');
    lookup.mockImplementation(((_: string, __: object, answer: (error: null, all: object[]) => void) => {
      process.nextTick(answer, null, all);
    }) as never);
    try {
      const url = 'http://metadata.models.svc.cluster.local:1';
      expect((await deployment(url)).error).toContain(reason);
      expect(await runtime(url)).toMatchObject({ status: 200 });
      await app.post(`/v1/projects/${project}/runtime/start`, admin.token);
      await until('the engine is probed', async () => {
        const { body } = await app.get(`/v1/projects/${project}/runtime`, admin.token);
        return body.state === 'unavailable' && body.reason.includes(reason);
      });
    } finally {
      lookup.mockRestore();
      await app.post(`/v1/projects/${project}/runtime/stop`, admin.token);
    }
  });

  it('sends no key that is not bound to the host', async () => {
    const url = 'http://vllm.models.svc.cluster.local:8000/v1';
    const refusal = { status: 422, error: expect.stringContaining('key_setting: names a key without a host') };
    expect(await runtime(url, { key_setting: 'SERVICE_RUNTIME_KEY_ANY' })).toEqual(refusal);
    expect(await deployment(url, { key_setting: 'SERVICE_RUNTIME_KEY_ANY' })).toEqual(refusal);
  });
});
