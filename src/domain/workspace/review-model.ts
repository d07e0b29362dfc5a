import { type Remark, type Reviewed, warning } from './review-finding.js';

/** Tells whether there is a model to measure. */
export function* modelRemarks({ project, models }: Reviewed): Generator<Remark> {
  const url = `/v1/projects/${project.id}/models`;
  const [draft] = models;
  if (!draft) {
    yield warning(
      'model_missing',
      'models',
      'The project has no model.',
      `Draft a model, POST ${url} with { "request_id": "<a UUID>", "spec": { "runtime": "onnx", "path": "tiny-chat" } }, and register it.`,
    );
  } else if (models.every(({ state }) => state === 'draft')) {
    yield warning(
      'model_unregistered',
      'models',
      'All models of the project are drafts, which can still change and cannot be connected.',
      `Register a model: POST ${url}/${draft.id}/register with its version.`,
    );
  }
}

/** Tells whether a model answers. A model that is loading counts as ready. */
export function* runtimeRemarks({ project, models, runtime }: Reviewed): Generator<Remark> {
  const url = `/v1/projects/${project.id}/runtime`;
  const registered = models.find(({ state }) => state === 'registered');
  if (runtime.state === 'not_connected' && registered) {
    yield warning(
      'runtime_not_connected',
      'runtime',
      'No model is connected, so nothing answers.',
      `Connect a registered model, PUT ${url} with { "model_id": "${registered.id}" }, and start it: POST ${url}/start.`,
    );
  } else if (runtime.state === 'stopped') {
    const message = `The runtime of model ${runtime.modelId} is stopped.`;
    yield warning('runtime_stopped', 'runtime', message, `Start the runtime: POST ${url}/start.`);
  } else if (runtime.state === 'unavailable') {
    yield warning(
      'runtime_unavailable',
      'runtime',
      `The runtime is unavailable: ${runtime.reason ?? 'it does not run'}`,
      `Mend what the reason names, then start the runtime again: POST ${url}/start.`,
    );
  }
}
