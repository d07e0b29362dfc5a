import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.js';
import { Deviation, expect, fields, step } from './steps.js';

const ENDS_WITHIN_MS = 60_000;
const ENOUGH = 0.9;

interface Place {
  readonly as: string;
  readonly project: string;
  readonly signal: AbortSignal;
}

type Group = { readonly group: string; readonly right: number; readonly count: number };

/** Evaluates the model on a starter that it has learned, and reviews the project with the score. */
export async function walkEvaluation({ call }: Pick<Client, 'call'>, { as, project, signal }: Place): Promise<void> {
  let [dataset, job] = ['', ''];
  await step('import and freeze a starter', async () => {
    const datasets = `/v1/projects/${project}/datasets` as const;
    const made = await call(`POST ${datasets}`, { as, body: { starter_id: 'capital-cities' } }, 201, {});
    dataset = made.body.id;
    const { status, body } = await call(`POST ${datasets}/${dataset}/freeze`, { as }, 200, { state: 'frozen' });
    return `${status} ${fields(body, 'state', 'record_count')}`;
  });
  await step('use the prompt and the threshold of the starter', async () => {
    const { body: listed } = await call('GET /v1/project-starters', { as }, 200, {});
    const starter = listed.starters.find(({ id }: { id: string }) => id === 'capital-cities');
    const { body: before } = await call(`GET /v1/projects/${project}`, { as }, 200, {});
    const sent = { as, body: { version: before.version, spec: { ...starter.spec, dataset_id: dataset } } };
    const { status, body } = await call(`PUT /v1/projects/${project}`, sent, 200, { spec: starter.spec });
    return `${status} ${fields(body, 'version', 'spec.acceptance')}`;
  });
  await step('evaluate the model on it', async () => {
    const body = { kind: 'evaluation', project_id: project, dataset_id: dataset };
    const answer = await call('POST /v1/jobs', { as, body }, 202, { kind: 'evaluation', status: 'queued' });
    job = answer.body.id;
    return `${answer.status} ${fields(answer.body, 'id', 'status', 'progress')}`;
  });
  await step('watch it to its end: the score by group', async () => {
    for (const end = performance.now() + ENDS_WITHIN_MS; ; ) {
      const expected = { status: /^(queued|running|succeeded)$/ };
      const { status, body } = await call(`GET /v1/jobs/${job}`, { as }, 200, expected);
      if (body.status === 'succeeded') {
        const { accuracy, interval, groups } = body.result;
        if (!(accuracy > ENOUGH)) throw new Deviation(`an accuracy above ${ENOUGH}`, accuracy);
        const [low, high] = interval.map((share: number) => share.toFixed(2));
        const byGroup = groups.map(({ group, right, count }: Group) => `${group} ${right}/${count}`).join(', ');
        return `${status} accuracy=${accuracy.toFixed(3)} (${low} to ${high}): ${byGroup}`;
      }
      if (performance.now() > end) throw new Deviation(`an end within ${ENDS_WITHIN_MS / 1000} s`, body.progress);
      await delay(500, undefined, { signal });
    }
  });
  await step('read its rows', async () => {
    const answer = await call(`GET /v1/jobs/${job}/results?limit=1`, { as }, 200, { count: 1, next_cursor: '1' });
    return `${answer.status} ${fields(answer.body, 'results.0.input', 'results.0.output', 'results.0.score')}`;
  });
  await step('have the project reviewed with its evaluation', async () => {
    const { body: read } = await call(`GET /v1/projects/${project}`, { as }, 200, {});
    const sent = { as, body: { version: read.version } };
    const { status, body } = await call(`POST /v1/projects/${project}/plan`, sent, 200, { ready: true });
    const codes = body.findings.map(({ code }: { code: string }) => code);
    expect(codes.includes('acceptance_met'), true);
    return `${status} ${fields(body, 'ready')} findings=${codes.join(',')}`;
  });
}
