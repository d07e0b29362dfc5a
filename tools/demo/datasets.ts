import type { Client } from './client.js';
import { expect, fields, step } from './steps.js';

/** Imports a starter's dataset into the project, reviews the project, and freezes the dataset. */
export async function walkDatasets({ call, refused }: Pick<Client, 'call' | 'refused'>, as: string, project: string) {
  const at = `/v1/projects/${project}` as const;
  const name = 'Capitals of 23 countries';
  let dataset = '';
  await step('look at the starters', async () => {
    const { status, body } = await call('GET /v1/project-starters', { as }, 200, {
      starters: [{ id: 'capital-cities' }],
    });
    return `${status} ${fields(body, 'count', 'starters.0.id', 'starters.0.provenance.licence')}`;
  });
  await step('import the dataset of a starter', async () => {
    const sent = { as, body: { starter_id: 'capital-cities' } };
    const expected = { project_id: project, name, version: 1, state: 'editable', validation: { valid: true } };
    const { status, body } = await call(`POST ${at}/datasets`, sent, 201, expected);
    dataset = body.id;
    return `${status} ${fields(body, 'id', 'record_count', 'state', 'validation.valid')}`;
  });
  await step('have the project reviewed', async () => {
    const { status, body } = await call(`POST ${at}/plan`, { as, body: { version: 2 } }, 200, { ready: true });
    const codes = body.findings.map((finding: { code: string }) => finding.code);
    expect(codes.slice(0, 3), ['acceptance_missing', 'dataset_missing', 'model_missing']);
    return `${status} ${fields(body, 'ready', 'findings.0.code', 'findings.1.code')}`;
  });
  await step('freeze the dataset', async () => {
    const sent = { as, body: { version: 1 } };
    const { status, body } = await call(`POST ${at}/datasets/${dataset}/freeze`, sent, 200, { state: 'frozen' });
    return `${status} ${fields(body, 'state', 'version')}`;
  });
  await step('change the frozen dataset', async () => {
    const sent = { as, body: { version: 1, name: 'Other capitals' } };
    const { status, body } = await refused(`PUT ${at}/datasets/${dataset}`, sent, 409, 'dataset_frozen');
    return `${status} ${fields(body, 'code')}`;
  });
}
