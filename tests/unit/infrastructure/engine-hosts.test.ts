import { loadConfig } from '../../../src/bootstrap/config/config.js';
import { endpointOf } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { HOSTILE_URLS, PATTERN } from '../../support/hostile-urls.js';

const PORT_PATTERN = '*.GPU.Example:8000';
const { upstream } = loadConfig({
  SERVICE_RUNTIME_ALLOWED_HOSTS: `${PATTERN}, ${PORT_PATTERN}, gpu.internal`,
  SERVICE_RUNTIME_KEY_ANY: 'sk-any',
  SERVICE_RUNTIME_KEY_VLLM: 'vllm.models.svc.cluster.local:8000=sk-vllm',
});

/** Returns the address and the key that the service uses, or the message of the refusal. */
function read(url: string, keySetting: string | null = null): unknown {
  try {
    return endpointOf(upstream, url, keySetting);
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a pattern of hosts', () => {
  it.each([
    ['http://vllm.models.svc.cluster.local', 'http://vllm.models.svc.cluster.local'],
    ['http://vllm.models.svc.cluster.local:8000/v1/', 'http://vllm.models.svc.cluster.local:8000/v1'],
    ['https://a.b.models.svc.cluster.local', 'https://a.b.models.svc.cluster.local'],
    ['HTTP://VLLM.Models.SVC.cluster.local', 'http://vllm.models.svc.cluster.local'],
    ['http://vllm%2emodels.svc.cluster.local', 'http://vllm.models.svc.cluster.local'],
    ['http://a.gpu.example:8000', 'http://a.gpu.example:8000'],
    ['http://gpu.internal:1', 'http://gpu.internal:1'],
  ])('allows %s', (url, baseUrl) => {
    expect(read(url)).toEqual({ baseUrl, key: null });
  });

  it.each(HOSTILE_URLS)('does not allow %s', (url) => {
    expect(read(url)).toMatch(/^endpoint: must /);
  });

  it.each(['http://a.gpu.example', 'https://a.gpu.example', 'http://a.gpu.example:80', 'http://a.gpu.example:8001'])(
    'with a port does not allow %s',
    (url) => {
      expect(read(url)).toMatch(/^endpoint: must be on a host that the operator allows/);
    },
  );

  it('gets only keys that are bound to the host', () => {
    const vllm = 'http://vllm.models.svc.cluster.local:8000';
    expect(read(vllm, 'SERVICE_RUNTIME_KEY_VLLM')).toEqual({ baseUrl: vllm, key: 'sk-vllm' });
    expect(read(vllm, 'SERVICE_RUNTIME_KEY_ANY')).toMatch(/^key_setting: names a key without a host: /);
    expect(read('http://other.models.svc.cluster.local:8000', 'SERVICE_RUNTIME_KEY_VLLM')).toBe(
      'key_setting: names a key for another host',
    );
    expect(read('http://gpu.internal', 'SERVICE_RUNTIME_KEY_ANY')).toMatchObject({ key: 'sk-any' });
  });
});
