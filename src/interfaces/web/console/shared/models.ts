import { answer, api, type Schemas } from './api.js';
import { confirmAct } from './dialog.js';
import { asSpec } from './spec/fields.js';

type Model = Schemas['Model'];

/** Returns the name of a model for people: `name`, `model` or `path` of its spec, and the end of its id. */
export function modelName({ id, spec }: Pick<Model, 'id' | 'spec'>): string {
  const names = spec.runtime === 'onnx' ? [spec.name, spec.path] : [spec.name, spec.model, spec.path];
  const named = names.find((name) => typeof name === 'string' && name !== '');
  return `${named ?? 'Unnamed model'} · ${id.slice(-6)}`;
}

/** Returns a random UUID. `crypto.randomUUID` is missing if another machine serves the page over plain HTTP. */
export function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Creates a draft of a model. Calls with the same `requestId` and spec create only one model. */
export const draftModel = (projectId: string, spec: object, requestId = newUuid()): Promise<Model> =>
  answer(
    api.POST('/v1/projects/{project_id}/models', {
      params: { path: { project_id: projectId } },
      body: { request_id: requestId, spec: asSpec(spec) },
    }),
  );

export const registerModel = ({ project_id, id, version }: Model): Promise<Model> =>
  answer(
    api.POST('/v1/projects/{project_id}/models/{model_id}/register', {
      params: { path: { project_id, model_id: id } },
      body: { version },
    }),
  );

/** Connects a registered model as the first one of its project, and starts the runtime. The fallbacks stay. Asks before a split ends. */
export async function connectModel({ project_id, id }: Pick<Model, 'project_id' | 'id'>): Promise<void> {
  const params = { path: { project_id } };
  const { fallbacks, split } = await answer(api.GET('/v1/projects/{project_id}/runtime', { params }));
  const text = `Calls are shared among ${split?.length} models by weight. They all go to the new model then.`;
  if (split && !(await confirmAct({ title: 'End the split?', text, act: 'Connect' }))) return;
  const body = { model_id: id, fallbacks: fallbacks.filter((one) => one !== id) };
  await answer(api.PUT('/v1/projects/{project_id}/runtime', { params, body }));
  await answer(api.POST('/v1/projects/{project_id}/runtime/start', { params }));
}
