import type { IncomingHttpHeaders } from 'node:http';
import { ended, evaluatedProject, records } from '../support/evaluations.js';
import { InferenceEngine } from '../support/inference-engine.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { attributesOf, type CollectedSpan, OtlpCollector } from '../support/otlp-collector.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { ask, completions, readyProject } from '../support/workspace.js';

const CALLER = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const SECRET_QUESTION = 'What is 7 + 5?';

let collector: OtlpCollector;
let engine: ScriptedEngine;
let predictor: InferenceEngine;
let receiver: WebhookReceiver;
let service: Service;
let cast: Cast;

beforeAll(async () => {
  [collector, engine, predictor, receiver] = await Promise.all([
    OtlpCollector.start(),
    ScriptedEngine.start(),
    InferenceEngine.start(),
    WebhookReceiver.start(),
  ]);
  service = await Service.start({
    alone: 'its spans are collected',
    env: {
      SERVICE_MASTER_KEY: masterKey,
      SERVICE_MAX_ACCOUNTS: '6',
      SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1',
      SERVICE_RUNTIME_ALLOWED_HOSTS: '127.0.0.1',
      ...collector.env,
    },
  });
  cast = await castOf(service);
});
afterAll(async () => {
  await service.stop();
  await Promise.all([collector.close(), engine.close(), predictor.close(), receiver.stop()]);
});

/** Waits until a trace has a span of this name and all parents have arrived. Returns the spans of the trace. */
async function traced(traceId: string | undefined, name: string): Promise<CollectedSpan[]> {
  const spans = () => collector.trace(traceId);
  const isWhole = () =>
    spans().every(
      ({ parentSpanId: parent }) => !parent || parent === CALLER.span || spans().some((one) => one.spanId === parent),
    );
  const names = () => spans().map((span) => span.name);
  await until(
    () => `there is a whole trace with ${name}: ${names()}`,
    () => names().includes(name) && isWhole(),
  );
  return spans();
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan =>
  spans.find((span) => span.name === name) as CollectedSpan;

const times = ({ startTimeUnixNano: start, endTimeUnixNano: end }: CollectedSpan) =>
  [BigInt(start), BigInt(end)] as const;

const traceIdOf = (headers: IncomingHttpHeaders) => String(headers.traceparent).split('-')[1];

describe('a trace', () => {
  it('of a chat crosses HTTP, SQL, queue and worker, within the caller’s trace, without the messages', async () => {
    const project = await readyProject(service, cast.admin.token);
    const { status, headers } = await service.call('POST', completions(project), {
      token: cast.admin.apiKey,
      json: ask(project, SECRET_QUESTION, { temperature: 0.5 }),
      headers: { traceparent: `00-${CALLER.trace}-${CALLER.span}-01` },
    });
    expect(status).toBe(200);
    const route = 'POST /v1/projects/{project_id}/chat/completions';
    const spans = await traced(CALLER.trace, route);
    const [server, chat] = [named(spans, route), named(spans, `chat ${project}`)];
    expect(server).toMatchObject({ parentSpanId: CALLER.span, kind: 2 });
    expect(attributesOf(server)).toMatchObject({
      'http.route': '/v1/projects/{project_id}/chat/completions',
      'http.response.status_code': 200,
      'tenon.request.id': headers.get('x-request-id'),
    });
    expect(attributesOf(chat)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'onnx',
      'gen_ai.request.model': project,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
    });
    const order = ['queue', 'prefill', 'decode'].map((name) => named(spans, name));
    for (const stage of order) expect(stage.parentSpanId).toBe(chat.spanId);
    const sql = spans.filter((span) => attributesOf(span)['db.system.name'] === 'postgresql');
    expect(sql.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringMatching(/^SELECT /)]));
    for (const span of [chat, ...sql]) expect(span.parentSpanId).toBe(server.spanId);
    for (const span of spans.filter((one) => one !== server)) {
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId) as CollectedSpan;
      const [[from, to], [parentFrom, parentTo]] = [times(span), times(parent)];
      expect([parentFrom <= from, from <= to, to <= parentTo]).toEqual([true, true, true]);
    }
    const edges = order.flatMap(times);
    expect([...edges].sort((a, b) => (a < b ? -1 : 1))).toEqual(edges);
    expect(JSON.stringify(collector.spans)).not.toMatch(/7 \+ 5|12\./);
    expect(collector.resource).toMatchObject({ 'service.name': 'tenon' });
    const { body } = await service.get('/v1/logs?tail=50', cast.admin.token);
    const line = body.lines.findLast((text: string) => text.includes('/chat/completions'));
    expect(JSON.parse(line)).toMatchObject({ trace_id: CALLER.trace, span_id: server.spanId });
  });

  it('continues at an engine elsewhere, and covers a whole stream', async () => {
    const spec = { runtime: 'openai', base_url: engine.url, model: 'big' };
    const project = await readyProject(service, cast.admin.token, spec);
    const json = ask(project, 'Hi', { stream: true });
    const { status } = await service.call('POST', '/openai/v1/chat/completions', { token: cast.admin.apiKey, json });
    expect(status).toBe(200);
    const asked = engine.asked.at(-1)?.headers ?? {};
    const spans = await traced(traceIdOf(asked), 'POST /openai/v1/chat/completions');
    const [chat, post] = [named(spans, `chat ${project}`), named(spans, 'POST')];
    expect(asked.traceparent).toBe(`00-${chat.traceId}-${post.spanId}-01`);
    expect(post).toMatchObject({ parentSpanId: chat.spanId, kind: 3 });
    expect(attributesOf(chat)).toMatchObject({ 'gen_ai.provider.name': 'openai', 'gen_ai.usage.output_tokens': 6 });
  });

  it('continues at an engine for predictions', async () => {
    const deployment = { name: 'd', endpoint: predictor.url, model_name: 'double' };
    const { body } = await service.post('/v1/deployments', cast.admin.token, deployment);
    const inputs = { inputs: { x: [[1, 2]] } };
    const { status } = await service.post(`/v1/deployments/${body.id}/predict`, cast.admin.token, inputs);
    expect(status).toBe(200);
    const { traceparent } = predictor.asked.at(-1)?.headers ?? {};
    const spans = await traced(traceIdOf({ traceparent }), 'POST /v1/deployments/{deployment_id}/predict');
    const prediction = named(spans, `predict ${body.id}`);
    expect(traceparent).toBe(`00-${prediction.traceId}-${prediction.spanId}-01`);
  });

  it('continues in tasks, and at the receivers of webhooks', async () => {
    const api = as(service, cast.admin.token);
    const webhook = await service.post('/v1/alerts/webhooks', cast.admin.token, { url: receiver.url });
    expect(webhook.status).toBe(201);
    await api.rule({ threshold: 1 });
    const { id } = await api.job();
    await api.report(id, { status: 'failed' });
    await until('the alert is posted', () => receiver.posted.length > 0);
    const headers = receiver.posted[0]?.headers ?? {};
    const spans = await traced(traceIdOf(headers), 'task announce alerts');
    const cause = named(spans, 'PATCH /v1/jobs/{job_id}');
    const [delivery, post] = [named(spans, 'task announce alerts'), named(spans, 'POST')];
    expect([delivery, post].map(({ parentSpanId }) => parentSpanId)).toEqual([cause.spanId, delivery.spanId]);
    expect(headers.traceparent).toBe(`00-${cause.traceId}-${post.spanId}-01`);

    const model = { runtime: 'openai', base_url: engine.url, model: 'big' };
    const evaluated = await evaluatedProject(service, cast.admin.token, { spec: {}, model, rows: records(2) });
    const json = { kind: 'evaluation', project_id: evaluated.project, dataset_id: evaluated.dataset };
    const job = await service.post('/v1/jobs', cast.admin.token, json);
    await ended(service, cast.admin.token, job.body.id);
    const begun = traceIdOf(engine.asked.at(-1)?.headers ?? {});
    const evaluation = await traced(begun, 'task evaluation');
    expect(named(evaluation, 'task evaluation').parentSpanId).toBe(named(evaluation, 'POST /v1/jobs').spanId);
    const chats = evaluation.filter(({ name }) => name === `chat ${evaluated.project}`);
    expect(chats.map(({ parentSpanId }) => parentSpanId)).toEqual(
      chats.map(() => named(evaluation, 'task evaluation').spanId),
    );
    expect(chats).toHaveLength(2);
  });

  it('is exported together with the metrics of /metrics, under the same names, and with metrics of chats', async () => {
    const { body: text } = await service.get('/metrics', masterKey);
    // A metric without a value is not exported.
    const names = [...text.matchAll(/^# TYPE (\S+) .*\n\1/gm)].map(([, name]) => name as string);
    expect(names.length).toBeGreaterThan(40);
    const missing = () => names.filter((name) => !collector.metrics.has(name));
    await until(
      () => `all metrics are exported, also ${missing()}`,
      () => missing().length === 0,
    );
    const ofChats = [
      'gen_ai.client.operation.duration',
      'gen_ai.client.token.usage',
      'gen_ai.server.request.duration',
      'gen_ai.server.time_to_first_token',
      'gen_ai.server.time_per_output_token',
    ];
    for (const name of [...ofChats, 'tenon_http_request_duration_seconds']) {
      const [point] = collector.metrics.get(name)?.histogram?.dataPoints ?? [];
      const counted = point?.bucketCounts.reduce((sum, count) => sum + Number(count), 0);
      expect([name, counted]).toEqual([name, Number(point?.count)]);
    }
  });
});
