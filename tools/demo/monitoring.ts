import type { Client } from './client.js';
import { fields, step } from './steps.js';

/** Serves an ONNX file. Reports a failed job, which fires an alert, and acknowledges the alert. */
export async function walkMonitoring({ call }: Pick<Client, 'call'>, as: string) {
  let [deployment, job, alert] = ['', '', ''];
  await step('deploy an ONNX file', async () => {
    const sent = { as, body: { name: 'weights', model_path: 'tiny-chat/onnx/model.onnx' } };
    const { status, body } = await call('POST /v1/deployments', sent, 201, { name: 'weights', status: 'running' });
    deployment = body.id;
    return `${status} ${fields(body, 'id', 'status', 'url')}`;
  });
  await step('stop serving it', async () => {
    const { status, body } = await call(`DELETE /v1/deployments/${deployment}`, { as }, 200, { deleted: true });
    return `${status} ${fields(body, 'deleted')}`;
  });
  await step('ask for an alert when a job fails', async () => {
    const sent = { as, body: { name: 'Any failure', rule_type: 'consecutive_failures', threshold: 1 } };
    const { status, body } = await call('POST /v1/alerts/rules', sent, 201, { enabled: true });
    return `${status} ${fields(body, 'id', 'rule_type', 'threshold')}`;
  });
  await step('report a job that runs elsewhere', async () => {
    const sent = { as, body: { kind: 'external', name: 'Nightly training' } };
    const { status, body } = await call('POST /v1/jobs', sent, 201, { status: 'running' });
    job = body.id;
    return `${status} ${fields(body, 'id', 'kind', 'status')}`;
  });
  await step('report that it failed', async () => {
    const sent = { as, body: { status: 'failed', error: 'out of memory' } };
    const { status, body } = await call(`PATCH /v1/jobs/${job}`, sent, 200, { status: 'failed' });
    return `${status} ${fields(body, 'status', 'error')}`;
  });
  await step('see the alert', async () => {
    const expected = { count: 1, alerts: [{ job_id: job, severity: 'P1', status: 'firing' }] };
    const { status, body } = await call('GET /v1/alerts', { as }, 200, expected);
    alert = body.alerts[0].id;
    return `${status} ${fields(body, 'alerts.0.title', 'alerts.0.severity', 'alerts.0.status')}`;
  });
  await step('acknowledge it', async () => {
    const sent = { as, body: { note: 'more memory' } };
    const { status, body } = await call(`POST /v1/alerts/${alert}/ack`, sent, 200, { status: 'acked' });
    return `${status} ${fields(body, 'status', 'note')}`;
  });
}
