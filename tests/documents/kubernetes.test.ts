import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { type Manifest, problemsOf, rendered, valuesOf } from '../support/kubernetes.js';

const root = join(__dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const page = text('deploy/kubernetes/README.md');
/** The page, and the one with the Secret of vLLM. */
const pages = page + text('docs/engines/vllm.md');

/** `.ci/run` installs the Debian package `kubernetes-client` if it can. The test needs no cluster. */
const { error } = spawnSync('kubectl', ['version', '--client']);
if (error) console.warn('kubectl is not installed: deploy/kubernetes is not checked.');
const withKubectl = error ? describe.skip : describe;

const folders = ['overlays/trial', 'overlays/production', 'engines/vllm', 'engines/kserve'];
const overlays = folders.slice(0, 2);

withKubectl('deploy/kubernetes', () => {
  let objects: Record<string, Manifest[]>;

  beforeAll(() => {
    objects = Object.fromEntries(folders.map((folder) => [folder, rendered(folder)]));
  });

  const all = (folder: string): Manifest[] => objects[folder] ?? [];
  const ofKind = (folder: string, kind: string) => all(folder).filter((one) => one.kind === kind);
  const one = (folder: string, kind: string, name = 'tenon'): Manifest => {
    const [found, ...more] = ofKind(folder, kind).filter(({ metadata }) => metadata.name === name);
    expect([found?.kind, more]).toEqual([kind, []]);
    return found;
  };
  /** Returns the pod templates. */
  const pods = (folder: string): Manifest[] =>
    all(folder).flatMap(({ spec }) => (spec?.template ? [spec.template] : []));
  const container = (folder: string): Manifest => one(folder, 'Deployment').spec.template.spec.containers[0];

  /** Returns the settings of the pods of Tenon, as far as the manifests have their values. */
  function settings(folder: string): Record<string, string> {
    const { env, envFrom } = container(folder);
    const named = valuesOf(envFrom, 'name');
    const sources = all(folder).filter(
      ({ kind, metadata }) => /^(ConfigMap|Secret)$/.test(kind) && named.includes(metadata.name),
    );
    const values = sources.flatMap(({ kind, data }) =>
      Object.entries<string>(data).map(([name, value]) => [name, kind === 'Secret' ? atob(value) : value]),
    );
    return Object.fromEntries([...values, ...env.map(({ name, value }: Manifest) => [name, value])]);
  }

  /** Returns the Secrets with their keys that the pages create in a namespace. */
  const created = (namespace: string): Record<string, string[]> =>
    Object.fromEntries(
      [...pages.matchAll(/^kubectl create secret generic (\S+) ((?:.*\\\n)*.*)/gm)]
        .filter(([, , options = '']) => options.includes(`--namespace=${namespace}`))
        .map(([, name = '', options = '']) => [
          name,
          [...options.matchAll(/--from-literal=(\w+)=/g)].map(([, key = '']) => key),
        ]),
    );

  it.each(folders)('%s: each object is valid by the schema of its kind', (folder) => {
    const problems = all(folder).flatMap((object) => problemsOf(object).map((problem) => `${object.kind}: ${problem}`));
    expect(problems).toEqual([]);
    const namespace = folder.startsWith('overlays/') ? 'tenon' : 'models';
    for (const { kind, metadata } of all(folder))
      expect(kind === 'Namespace' ? metadata.name : metadata.namespace).toBe(namespace);
  });

  it('the Job of the page is valid, gets its Secret, and gets no calls of the Service', () => {
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => parse(block));
    const [job] = blocks.filter(({ kind }) => kind === 'Job');
    expect(problemsOf(job)).toEqual([]);
    const [{ image, envFrom }] = job.spec.template.spec.containers;
    expect(image).toBe(container('overlays/production').image);
    expect(container('overlays/production').envFrom).toEqual(expect.arrayContaining(envFrom));
    expect(job.spec.template.metadata).toBeUndefined();
    // The namespace enforces the profile `restricted` of Kubernetes.
    const { runAsNonRoot, runAsUser, seccompProfile } = pods('overlays/production')[0].spec.securityContext;
    expect(job.spec.template.spec.securityContext).toEqual({ runAsNonRoot, runAsUser, seccompProfile });
    const { readOnlyRootFilesystem: _, ...rights } = container('overlays/production').securityContext;
    expect(job.spec.template.spec.containers[0].securityContext).toEqual(rights);
  });

  it('has all kinds that are promised', () => {
    const kinds = (folder: string) => [...new Set(all(folder).map(({ kind }) => kind))].sort();
    const base = ['ConfigMap', 'Deployment', 'Namespace', 'NetworkPolicy', 'PodDisruptionBudget'];
    expect(kinds('overlays/trial')).toEqual([...base, 'Secret', 'Service', 'ServiceAccount', 'StatefulSet']);
    const watching = ['PrometheusRule', 'Service', 'ServiceAccount', 'ServiceMonitor'];
    expect(kinds('overlays/production')).toEqual(['HorizontalPodAutoscaler', 'Ingress', ...base, ...watching].sort());
    expect(one('overlays/trial', 'Deployment').spec.replicas).toBe(3);
    expect(one('overlays/production', 'Deployment').spec.replicas).toBeUndefined(); // the autoscaler sets it
    expect(one('overlays/production', 'HorizontalPodAutoscaler').spec.minReplicas).toBe(3);
  });

  it.each<[string, string, (object: Manifest) => object]>([
    ['overlays/trial', 'Deployment', ({ spec }) => spec.template.spec.containers[0]],
    ['overlays/trial', 'StatefulSet', ({ spec }) => spec.template.spec.securityContext],
    ['overlays/trial', 'NetworkPolicy', ({ spec }) => spec.podSelector],
    ['overlays/production', 'HorizontalPodAutoscaler', ({ spec }) => spec.metrics[0].pods.target],
    ['overlays/production', 'PodDisruptionBudget', ({ spec }) => spec],
    ['overlays/production', 'ServiceMonitor', ({ spec }) => spec.endpoints[0]],
    ['overlays/production', 'PrometheusRule', ({ spec }) => spec.groups[0].rules[0]],
    ['engines/vllm', 'Service', ({ spec }) => spec],
    ['engines/kserve', 'InferenceService', ({ spec }) => spec.predictor.model],
  ])('%s: a field that %s does not have would be found', (folder, kind, place) => {
    const object = structuredClone(ofKind(folder, kind)[0]);
    expect(problemsOf(object)).toEqual([]);
    Object.assign(place(object), { notThere: 'x' });
    expect(problemsOf(object).join()).toContain('notThere');
  });

  it.each(folders)('%s: selectors and named ports exist', (folder) => {
    const labels = pods(folder).map(({ metadata }) => metadata.labels);
    const elsewhere = ['kubernetes.io/metadata.name', 'k8s-app']; // the labels of namespaces and of the DNS server
    const chosen: object[] = [
      ...ofKind(folder, 'Service').map(({ spec }) => spec.selector),
      ...valuesOf(all(folder), 'matchLabels'),
    ].filter((selector) => !elsewhere.some((label) => label in selector));
    const tenon = folder.startsWith('engines/') ? [{ 'app.kubernetes.io/name': 'tenon' }] : [];
    for (const selector of chosen) expect([...labels, ...tenon]).toContainEqual(expect.objectContaining(selector));
    const ports = [...valuesOf(pods(folder), 'containers').flat(2)].flatMap(({ ports }) => ports);
    const names = ports.map(({ name }) => name);
    const used = [...valuesOf(all(folder), 'targetPort'), ...valuesOf(pods(folder), 'httpGet').map(({ port }) => port)];
    for (const name of used) expect(names).toContain(name);
    const allowed = valuesOf(ofKind(folder, 'NetworkPolicy'), 'ingress')
      .flat()
      .flatMap((rule) => rule.ports ?? []);
    for (const { port } of allowed) expect([...names, ...ports.map((one) => one.containerPort)]).toContain(port);
    const served = valuesOf(ofKind(folder, 'Service'), 'ports')
      .flat()
      .map(({ name }) => name);
    for (const { port } of valuesOf(ofKind(folder, 'ServiceMonitor'), 'endpoints').flat())
      expect(served).toContain(port);
    for (const { name, port } of valuesOf(ofKind(folder, 'Ingress'), 'service'))
      expect(one(folder, 'Service', name).spec.ports).toContainEqual(expect.objectContaining(port));
    for (const { kind, name } of valuesOf(all(folder), 'scaleTargetRef')) one(folder, kind, name);
  });

  it.each(folders)('%s: each Secret that is named is there, or the page creates it with its keys', (folder) => {
    const made = created(folder.startsWith('engines/') ? 'models' : 'tenon');
    const there = Object.fromEntries(
      ofKind(folder, 'Secret').map(({ metadata, data }) => [metadata.name, Object.keys(data)]),
    );
    const secrets: Record<string, string[]> = { ...made, ...there };
    const named = valuesOf(pods(folder), 'secretRef').map(({ name }) => name);
    for (const name of named) expect(Object.keys(secrets)).toContain(name);
    const keys = [...valuesOf(pods(folder), 'secretKeyRef'), ...valuesOf(all(folder), 'credentials')];
    for (const { name, key } of keys) expect(secrets[name]).toContain(key);
    for (const { secretName } of valuesOf(ofKind(folder, 'Ingress'), 'tls').flat())
      expect(page).toContain(`kubectl create secret tls ${secretName} --namespace=tenon `);
    if (folder === 'overlays/production') expect(Object.keys(made).sort()).toEqual([...new Set(named)].sort());
  });

  it.each(overlays)('%s: the service accepts all settings, and knows their names', (folder) => {
    const secrets = Object.values(created('tenon')).flat();
    expect(secrets).toContain('SERVICE_SECRET');
    const set = settings(folder);
    expect(loadConfig(set).unknown).toEqual([]);
    expect(loadConfig({ ...Object.fromEntries(secrets.map((name) => [name, ''])), ...set }).unknown).toEqual([]);
    expect(set.SERVICE_BASE_URL).toMatch(/^https?:/);
  });

  it.each(overlays)('%s: a rolling update fits to the times of the service', (folder) => {
    const { spec } = one(folder, 'Deployment');
    const { drainDelayMs, shutdownTimeoutMs, inferenceTimeoutMs, databaseWaitMs } = loadConfig(settings(folder));
    expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    const grace = spec.template.spec.terminationGracePeriodSeconds * 1000;
    expect(grace).toBeGreaterThan(drainDelayMs + shutdownTimeoutMs);
    expect(shutdownTimeoutMs * 0.6).toBeGreaterThanOrEqual(inferenceTimeoutMs);
    const { startupProbe, livenessProbe, readinessProbe } = container(folder);
    expect(drainDelayMs).toBeGreaterThan(readinessProbe.periodSeconds * 1000);
    const startS = startupProbe.periodSeconds * startupProbe.failureThreshold;
    expect(startS).toBeGreaterThanOrEqual(Math.max(databaseWaitMs / 1000, 1800)); // tables may change for half an hour
    expect(spec.progressDeadlineSeconds).toBeGreaterThan(startS);
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(['/health/live', '/health/live', '/health/ready']);
    for (const path of paths) expect(Object.keys(JSON.parse(text('openapi.json')).paths)).toContain(path);
  });

  it.each(overlays)('%s: the pods fit to the image', (folder) => {
    const dockerfile = text('Dockerfile');
    const { ports, volumeMounts, image, resources } = container(folder);
    expect(dockerfile).toContain(`EXPOSE ${ports[0].containerPort}\n`);
    expect(dockerfile).toContain('USER node\n'); // its number is 1000 in the images of Node
    expect(one(folder, 'Deployment').spec.template.spec.securityContext.runAsUser).toBe(1000);
    expect(dockerfile).toContain(`SERVICE_DATA_DIR=${volumeMounts[0].mountPath}\n`);
    expect(image.split(':').at(-1)).toBe(JSON.parse(text('package.json')).version);
    const [data] = one(folder, 'Deployment').spec.template.spec.volumes;
    const GiB = (size: string) => Number(/^(\d+)Gi$/.exec(size)?.[1]);
    const cache = loadConfig(settings(folder)).modelCache.mostBytes / 1024 ** 3;
    expect(GiB(data.emptyDir.sizeLimit)).toBeGreaterThan(cache);
    expect(GiB(resources.limits['ephemeral-storage'])).toBeGreaterThan(GiB(data.emptyDir.sizeLimit));
    const heap = Number(/--max-old-space-size=(\d+)/.exec(dockerfile)?.[1]) / 1024;
    expect(GiB(resources.limits.memory)).toBeGreaterThan(heap);
  });

  it.each(folders)('%s: pods have no rights that they do not need, and images of fixed versions', (folder) => {
    for (const { spec } of pods(folder)) {
      expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      const restricted = folder.startsWith('overlays/');
      const user = restricted ? { runAsNonRoot: true, runAsUser: expect.any(Number) } : {};
      expect(spec.securityContext).toMatchObject({ ...user, seccompProfile: { type: 'RuntimeDefault' } });
      for (const { image, securityContext, resources } of spec.containers) {
        expect(securityContext).toEqual({
          ...(restricted && { readOnlyRootFilesystem: true }),
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        });
        expect(image).toMatch(/:v?\d[\w.-]*$/);
        expect(resources).toMatchObject({
          requests: { memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
      }
    }
    expect(all(folder).filter(({ kind }) => /Role|Binding/.test(kind))).toEqual([]);
  });

  it('the PrometheusRule has the rules of docs/monitoring', () => {
    expect(one('overlays/production', 'PrometheusRule').spec).toEqual(parse(text('docs/monitoring/rules.yml')));
  });

  it('the autoscaler and the Prometheus adapter use a metric that the service has, and the rules the name of the job', () => {
    const [{ pods: metric }] = one('overlays/production', 'HorizontalPodAutoscaler').spec.metrics;
    // tests/documents/monitoring.test.ts checks that the metrics in this file exist.
    expect(text('docs/monitoring/README.md')).toContain(`\`${metric.metric.name}\``);
    const [, values = ''] = /^```yaml\n(rules:\n.*?)^```$/ms.exec(page) ?? [];
    const [rule] = parse(values).rules.custom;
    expect(rule.seriesQuery).toMatch(new RegExp(`^${metric.metric.name}\\{`));
    const { metadata } = one('overlays/production', 'Service');
    expect(text('docs/monitoring/rules.yml')).toContain(`job="${metadata.name}"`);
    const { selector } = one('overlays/production', 'ServiceMonitor').spec;
    expect(metadata.labels).toEqual(selector.matchLabels);
  });

  it('the engines are on hosts that the overlays allow', () => {
    const [service] = ofKind('engines/vllm', 'Service');
    const vllm = `http://${service.metadata.name}.models.svc.cluster.local:${service.spec.ports[0].port}/v1`;
    const iris = `http://${ofKind('engines/kserve', 'InferenceService')[0].metadata.name}-predictor.models.svc.cluster.local`;
    expect(text('docs/engines/vllm.md')).toContain(`"${vllm}"`);
    expect(text('docs/engines/kserve.md')).toContain(`"${iris}"`);
    for (const folder of overlays)
      expect(loadConfig(settings(folder)).upstream.allowedHosts).toContain('*.models.svc.cluster.local');
    const [{ metadata, spec }] = ofKind('engines/kserve', 'InferenceService') as [Manifest];
    expect(metadata.labels).toEqual({ 'networking.kserve.io/visibility': 'cluster-local' });
    expect(spec.predictor.model.runtime).toBe('kserve-tritonserver'); // the page tells its layout of the files
    const { containers } = pods('engines/vllm')[0].spec;
    expect(containers[0].args).toContain('--served-model-name=qwen3');
  });
});
