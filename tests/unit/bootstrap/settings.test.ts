import { type BadSettings, loadConfig } from '../../../src/bootstrap/config/config.js';

/** Returns the complaints about wrong settings. */
const complaint = (texts: Record<string, string>): string => {
  try {
    loadConfig(texts);
  } catch (error) {
    return (error as BadSettings).lines.join('\n');
  }
  throw new Error('the settings were accepted');
};

it.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'SERVICE_ALERTMANAGER_URL', 'SERVICE_SLACK_WEBHOOK_URL'])(
  'a complaint about %s does not repeat its value, which may contain a password',
  (name) => expect(complaint({ [name]: 'ftp://user:password@a' })).toBe(`${name} must be an http:// or https:// URL`),
);

const basedOn = ['SERVICE_BASE_URL', 'SERVICE_ALERTMANAGER_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'SERVICE_S3_ENDPOINT'];
describe.each(basedOn)('%s', (name) => {
  it.each(['http://a/b?c', 'http://a/b/#c', 'http://a?', 'http://a/ '])('refuses %s', (url) =>
    expect(complaint({ [name]: url })).toMatch(
      new RegExp(`^${name} must have no query, no fragment and no white space`),
    ),
  );
});

it('SERVICE_ALERTMANAGER_URL may name several instances, each once', () => {
  const named = (urls: string) => ({ SERVICE_ALERTMANAGER_URL: urls });
  expect(loadConfig(named('http://a:9093/,https://b/am')).alertmanagerUrls).toEqual(['http://a:9093', 'https://b/am']);
  expect(complaint(named('http://a,ftp://b'))).toMatch(/^SERVICE_ALERTMANAGER_URL must be an http:\/\//);
  expect(complaint(named('http://a/x,http://a/y'))).toBe('SERVICE_ALERTMANAGER_URL must name each host and port once');
});

it('SERVICE_QUOTA_… set the quotas, those of bytes in units of 1,048,576', () => {
  const set = {
    PROJECTS: '1',
    WORKSPACE_MB: '2',
    CONVERSATIONS_MB: '3',
    RESPONSES_MB: '6',
    EXTERNAL_JOBS: '4',
    UPLOADS_MB: '5',
  };
  const texts = Object.fromEntries(Object.entries(set).map(([name, text]) => [`SERVICE_QUOTA_${name}`, text]));
  expect(loadConfig(texts).quotas).toEqual({
    projects: 1,
    workspaceBytes: 2_097_152,
    conversationBytes: 3_145_728,
    responseBytes: 6_291_456,
    externalJobs: 4,
    uploadBytes: 5_242_880,
  });
  expect(complaint({ SERVICE_QUOTA_PROJECTS: '0' })).toMatch(/^SERVICE_QUOTA_PROJECTS must be a whole number from 1/);
});

it('SERVICE_BASE_URL may end with a slash', () => {
  expect(loadConfig({ SERVICE_BASE_URL: 'https://tenon.example/models//' }).baseUrl).toBe(
    'https://tenon.example/models',
  );
});

describe('SERVICE_TRUST_PROXY', () => {
  it('is empty by default', () => {
    expect(loadConfig({}).trustedProxies).toEqual([]);
  });

  it('lists addresses, networks and names', () => {
    const list = 'loopback, 10.0.0.0/8,192.0.2.7 ,2001:db8::/32,::1,uniquelocal,linklocal';
    expect(loadConfig({ SERVICE_TRUST_PROXY: list }).trustedProxies).toEqual(list.split(/ ?, ?/));
  });

  const badNetworks = '10.0.0.0/0 10.0.0.0/33 10.0.0.0/08 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/255.0.0.0 ::/129';
  const badProxies = 'true 1 * proxy.example.com localhost fe80::1%eth0 loopback, loopback,,::1';
  it.each([...badNetworks.split(' '), ...badProxies.split(' '), 'loopback uniquelocal'])(
    'refuses %s with a clear line',
    (text) => {
      const line = complaint({ SERVICE_TRUST_PROXY: text });
      expect(line).toMatch(/^SERVICE_TRUST_PROXY must list addresses, networks/);
      expect(line).toContain(JSON.stringify(text));
    },
  );
});

describe('SERVICE_CORS_ORIGINS', () => {
  it('is empty by default', () => {
    expect(loadConfig({}).corsOrigins).toEqual([]);
  });

  it('lists origins', () => {
    const list = 'https://app.example.com, http://localhost:3000,https://[2001:db8::1]:8443';
    expect(loadConfig({ SERVICE_CORS_ORIGINS: list }).corsOrigins).toEqual(list.split(/, ?/));
  });

  const badUrls =
    'https://a.example/ https://a.example/path https://A.example https://a.example:443 https://u@a.example';
  it.each([...badUrls.split(' '), 'a.example', 'null', 'file:///tmp', 'ftp://a.example', 'https://a.example,'])(
    'refuses %s with a clear line',
    (text) => {
      expect(complaint({ SERVICE_CORS_ORIGINS: text })).toMatch(/^SERVICE_CORS_ORIGINS must list origins such as /);
    },
  );

  it.each(['*', 'https://*.example.com', 'https://app.example.com,*'])(
    'refuses %s, because it would allow unknown sites',
    (text) => {
      expect(complaint({ SERVICE_CORS_ORIGINS: text })).toMatch(/^SERVICE_CORS_ORIGINS must name each origin/);
    },
  );
});

describe('the rate limits', () => {
  it('are 120 and 20 by default', () => {
    expect(loadConfig({}).rateLimits).toEqual({ perMinute: 120, authPerMinute: 20 });
    const set = { SERVICE_RATE_LIMIT_PER_MIN: '7', SERVICE_RATE_LIMIT_AUTH_PER_MIN: '1' };
    expect(loadConfig(set).rateLimits).toEqual({ perMinute: 7, authPerMinute: 1 });
  });

  it.each(['0', '-1', '1.5', 'unlimited'])('cannot be %s', (text) => {
    expect(complaint({ SERVICE_RATE_LIMIT_PER_MIN: text })).toContain('must be a whole number from 1');
  });
});

describe('the settings of engines', () => {
  const upstream = (texts: Record<string, string>) => loadConfig(texts).upstream;

  it('are no hosts and no keys by default', () => {
    expect(upstream({})).toEqual({ allowedHosts: [], keys: {} });
  });

  it('name hosts in the normal form of a URL, with or without a port', () => {
    const SERVICE_RUNTIME_ALLOWED_HOSTS = 'GPU.internal, 10.0.0.7:8000,[::0:1]:08080, [FE80::1],api.example.com:443';
    expect(upstream({ SERVICE_RUNTIME_ALLOWED_HOSTS }).allowedHosts).toEqual([
      'gpu.internal',
      '10.0.0.7:8000',
      '[::1]:8080',
      '[fe80::1]',
      'api.example.com:443',
    ]);
  });

  it.each(['http://gpu', 'gpu/v1', 'gpu:0', 'gpu:65536', 'gpu:x', 'a b', 'user@gpu', '::1', 'gpu,,gpu2', '[::1'])(
    'refuse an invalid host: %s',
    (SERVICE_RUNTIME_ALLOWED_HOSTS) => {
      expect(() => upstream({ SERVICE_RUNTIME_ALLOWED_HOSTS })).toThrow(
        /SERVICE_RUNTIME_ALLOWED_HOSTS must list hosts/,
      );
    },
  );

  it('may have patterns of hosts', () => {
    const SERVICE_RUNTIME_ALLOWED_HOSTS = '*.Models.SVC.cluster.local, *.example.com:08000,*.a-1.b2';
    expect(upstream({ SERVICE_RUNTIME_ALLOWED_HOSTS }).allowedHosts).toEqual([
      '*.models.svc.cluster.local',
      '*.example.com:8000',
      '*.a-1.b2',
    ]);
  });

  const wide = '* ** *. *.* *.com *.local *.com. *:8000 *.local:8000 *.. *..a.b *.a..b *.a.b. *.*.a.b a.*.b.c a*.b.c';
  const odd = '*a.b.c *.a.b/c *.a.b:0 *.a.b:x *.10.0.0.7 *.0.7 *.[::1] *.a_b.c *.user@a.b http://*.a.b gpu,*.com';
  it.each([...wide.split(' '), ...odd.split(' ')])('refuse the pattern %s in one clear line', (text) => {
    expect(complaint({ SERVICE_RUNTIME_ALLOWED_HOSTS: text })).toBe(
      'SERVICE_RUNTIME_ALLOWED_HOSTS may have a * only at the beginning of a host, ' +
        `as *. before a name of two labels or more; it is ${JSON.stringify(text)}`,
    );
  });

  it.each(['*.models.example=sk-a', '*.models.example:8000=sk-a', '*.com=sk-a'])(
    'bind no key to a pattern, and a complaint does not repeat the key: %s',
    (text) => {
      expect(complaint({ SERVICE_RUNTIME_KEY_A: text, SERVICE_RUNTIME_ALLOWED_HOSTS: '*.models.example' })).toBe(
        'SERVICE_RUNTIME_KEY_A must begin with one host, not with a pattern: each host of a pattern would get the key',
      );
    },
  );

  it('hold keys with any name after the prefix, and a complaint does not repeat a key', () => {
    const keys = { SERVICE_RUNTIME_KEY_A: 'sk-a', SERVICE_RUNTIME_KEY_B_2: 'sk-b' };
    expect(upstream({ ...keys, SERVICE_RUNTIME_KEY_EMPTY: '' }).keys).toEqual({
      SERVICE_RUNTIME_KEY_A: { key: 'sk-a', host: null },
      SERVICE_RUNTIME_KEY_B_2: { key: 'sk-b', host: null },
    });
    expect(loadConfig({ ...keys, SERVICE_RUNTIME_KEY_: 'x' }).unknown).toEqual(['SERVICE_RUNTIME_KEY_']);
    const said = complaint({ SERVICE_RUNTIME_KEY_A: 'sk a\r\nX: y' });
    expect(said).toMatch(/SERVICE_RUNTIME_KEY_A must have/);
    expect(said).not.toContain('sk a');
  });

  it.each([
    ['gpu=sk-a', { key: 'sk-a', host: 'gpu' }],
    ['GPU:8000=sk=a', { key: 'sk=a', host: 'gpu:8000' }],
    ['other.example=sk-a', { key: 'sk-a', host: 'other.example' }],
    ['c2stYQ==', { key: 'c2stYQ==', host: null }],
    ['eyJh.bGciOg==', { key: 'eyJh.bGciOg==', host: null }],
    ['sk-a=b', { key: 'sk-a=b', host: null }],
  ])('bind a key to a host only if the text begins with a host: %s', (text, key) => {
    const { keys } = upstream({ SERVICE_RUNTIME_KEY_A: text, SERVICE_RUNTIME_ALLOWED_HOSTS: 'gpu:8000' });
    expect(keys).toEqual({ SERVICE_RUNTIME_KEY_A: key });
  });
});

describe('SERVICE_MODEL_STORE', () => {
  const bucket = { SERVICE_MODEL_STORE: 's3://models' };

  it('is null by default', () => {
    expect(loadConfig({ AWS_ACCESS_KEY_ID: 'half' }).modelStore).toBeNull();
  });

  it('names a bucket and a prefix at AWS or at another endpoint', () => {
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key', AWS_REGION: 'eu-central-1' };
    expect(loadConfig({ ...bucket, ...keys }).modelStore).toMatchObject({
      bucket: 'models',
      prefix: '',
      endpoint: null,
      region: 'eu-central-1',
      forcePathStyle: false,
      credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
    });
    const minio = { SERVICE_MODEL_STORE: 's3://models/team/a', SERVICE_S3_ENDPOINT: 'http://127.0.0.1:9000' };
    const place = { prefix: 'team/a/', endpoint: 'http://127.0.0.1:9000', region: 'us-east-1', forcePathStyle: true };
    expect(loadConfig(minio).modelStore).toMatchObject({ ...place, credentials: null });
  });

  it.each(['models', 's3://', 's3://a', 'https://models', 's3://models//x', 's3://models/../x', 's3://models/.x'])(
    'refuses %s',
    (text) =>
      expect(complaint({ SERVICE_MODEL_STORE: text })).toMatch(/must be s3:\/\/bucket or s3:\/\/bucket\/prefix/),
  );

  it('is checked together with the settings that belong to it', () => {
    expect(complaint({ SERVICE_S3_REGION: 'eu-1', SERVICE_S3_FORCE_PATH_STYLE: 'true' }).split('\n')).toEqual([
      'SERVICE_MODEL_STORE is needed beside SERVICE_S3_REGION',
      'SERVICE_MODEL_STORE is needed beside SERVICE_S3_FORCE_PATH_STYLE',
    ]);
    const half = 'AWS_SECRET_ACCESS_KEY is needed beside AWS_ACCESS_KEY_ID';
    expect(complaint({ ...bucket, AWS_ACCESS_KEY_ID: 'id' })).toBe(half);
    const open = 'http://user:hidden@minio:9000';
    const line = complaint({ ...bucket, SERVICE_S3_ENDPOINT: open });
    expect(line).toBe('SERVICE_S3_ENDPOINT must have no credentials');
  });
});
