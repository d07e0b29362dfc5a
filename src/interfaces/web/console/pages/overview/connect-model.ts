import { answer, api } from '../../shared/api.js';

/** Registers the chat model at `path` in the project and connects it as the runtime. Uses a registered one again. */
export async function connectModel(projectId: string, path: string): Promise<void> {
  const params = { path: { project_id: projectId } };
  const { models } = await answer(api.GET('/v1/projects/{project_id}/models', { params }));
  const known = models.find(({ spec }) => spec.runtime === 'onnx' && spec.path === path);
  const model =
    known ??
    (await answer(
      api.POST('/v1/projects/{project_id}/models', {
        params,
        body: { request_id: newId(), spec: { runtime: 'onnx', path } },
      }),
    ));
  if (model.state === 'draft') {
    await answer(
      api.POST('/v1/projects/{project_id}/models/{model_id}/register', {
        params: { path: { project_id: projectId, model_id: model.id } },
        body: { version: model.version },
      }),
    );
  }
  await answer(api.PUT('/v1/projects/{project_id}/runtime', { params, body: { model_id: model.id } }));
}

/** Returns a random UUID. `crypto.randomUUID` is missing where the page comes over plain http from another machine. */
function newId(): string {
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
