import type { Remark, Reviewed } from './remark.js';

/** Whether there is a model to measure. */
export function* modelRemarks({ project, models }: Reviewed): Generator<Remark> {
  const url = `/v1/projects/${project.id}/models`;
  const path = 'models';
  const [draft] = models;
  if (!draft) {
    yield {
      level: 'warning',
      code: 'model_missing',
      path,
      message: 'The project has no model.',
      next: `Draft a model, POST ${url} with { "request_id": "<a UUID>", "spec": { "runtime": "onnx", "path": "tiny-chat" } }, and register it.`,
    };
  } else if (models.every(({ state }) => state === 'draft')) {
    yield {
      level: 'warning',
      code: 'model_unregistered',
      path,
      message: 'All models of the project are drafts, which can still change and cannot be connected.',
      next: `Register a model: POST ${url}/${draft.id}/register with its version.`,
    };
  }
}

/** Whether a model answers. A model that is loading is as good as one that is ready. */
export function* runtimeRemarks({ project, models, runtime }: Reviewed): Generator<Remark> {
  const url = `/v1/projects/${project.id}/runtime`;
  const path = 'runtime';
  const registered = models.find(({ state }) => state === 'registered');
  if (runtime.state === 'not_connected' && registered) {
    yield {
      level: 'warning',
      code: 'runtime_not_connected',
      path,
      message: 'No model is connected, so nothing answers.',
      next: `Connect a registered model, PUT ${url} with { "model_id": "${registered.id}" }, and start it: POST ${url}/start.`,
    };
  } else if (runtime.state === 'stopped') {
    yield {
      level: 'warning',
      code: 'runtime_stopped',
      path,
      message: `The runtime of model ${runtime.modelId} is stopped.`,
      next: `Start the runtime: POST ${url}/start.`,
    };
  } else if (runtime.state === 'unavailable') {
    yield {
      level: 'warning',
      code: 'runtime_unavailable',
      path,
      message: `The runtime is unavailable: ${runtime.reason ?? 'it does not run'}`,
      next: `Mend what the reason names, then start the runtime again: POST ${url}/start.`,
    };
  }
}
