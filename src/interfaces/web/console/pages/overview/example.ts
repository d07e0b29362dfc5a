import { ApiError, answer, api } from '../../shared/api.js';
import { draftModel, registerModel } from '../../shared/models.js';
import { link } from '../../shared/router.js';
import { type KnownRuntime, progressOf, type Step } from './steps.js';

export const SHIPPED_MODEL = 'tiny-chat';

/** The starter with questions that the shipped model answers. */
export const EXAMPLE_STARTER = 'capital-cities';

const EVERY_MS = 1_000;

/** Creates a project with the dataset of its starter. */
export async function createProject(starter: string): Promise<string> {
  const { id } = await answer(api.POST('/v1/projects', { body: { starter_id: starter } }));
  await importDataset(id, starter);
  return id;
}

/** Imports the dataset of a starter, unless the project has a dataset. */
async function importDataset(projectId: string, starter_id: string): Promise<void> {
  const params = { path: { project_id: projectId } };
  const { datasets } = await answer(api.GET('/v1/projects/{project_id}/datasets', { params }));
  if (datasets.length === 0)
    await answer(api.POST('/v1/projects/{project_id}/datasets', { params, body: { starter_id } }));
}

/** Registers the model in the project and connects it. Uses the model of an earlier attempt, if there is one. */
export async function connect(projectId: string, path: string): Promise<void> {
  const params = { path: { project_id: projectId } };
  const { models } = await answer(api.GET('/v1/projects/{project_id}/models', { params }));
  const known = models.find(({ spec }) => spec.runtime === 'onnx' && spec.path === path);
  const model = known ?? (await draftModel(projectId, { runtime: 'onnx', path }));
  const { id: model_id } = model.state === 'draft' ? await registerModel(model) : model;
  await answer(api.PUT('/v1/projects/{project_id}/runtime', { params, body: { model_id } }));
}

export const start = (projectId: string) =>
  answer(api.POST('/v1/projects/{project_id}/runtime/start', { params: { path: { project_id: projectId } } }));

/** Returns the link to the playground, with the first question of the project's starter. */
export async function playgroundOf(projectId: string): Promise<string> {
  const params = { path: { project_id: projectId } };
  const [{ spec }, { starters }] = await Promise.all([
    answer(api.GET('/v1/projects/{project_id}', { params })),
    answer(api.GET('/v1/project-starters')),
  ]);
  const input = starters.find(({ id }) => id === spec.starter_id)?.dataset.records[0]?.input;
  return link('/playground', { project: projectId, question: typeof input === 'string' ? input : null });
}

/** Returns the newest project that was made from the starter of the example, with its dataset. Creates what is missing. */
async function exampleProject(): Promise<string> {
  const { projects } = await answer(api.GET('/v1/projects'));
  const known = projects.find(({ spec }) => spec.starter_id === EXAMPLE_STARTER);
  if (!known) return createProject(EXAMPLE_STARTER);
  await importDataset(known.id, EXAMPLE_STARTER); // an earlier attempt may have failed there
  return known.id;
}

/**
 * Does the steps that the example still needs, and returns its link to the playground. After a failure it can be called
 * again: it looks up what is done. Each step is tried once. Rejects when `stopping` aborts.
 */
export async function setUpExample(on: {
  /** Called with the project of the example, before its other steps. */
  readonly project: (id: string) => void;
  /** Returns the present runtimes, and shows them. */
  readonly refresh: () => Promise<readonly KnownRuntime[]>;
  readonly stopping: AbortSignal;
}): Promise<string> {
  const id = await exampleProject();
  on.project(id);
  const acts: Partial<Record<Step, () => Promise<unknown>>> = {
    model: () => connect(id, SHIPPED_MODEL),
    runtime: () => start(id),
  };
  for (;;) {
    const runtimes = await on.refresh();
    on.stopping.throwIfAborted();
    const { project, next } = progressOf(runtimes.filter(({ project_id }) => project_id === id));
    if (next === 'question') return playgroundOf(id);
    if (project?.state === 'loading') {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      continue;
    }
    const act = acts[next];
    delete acts[next];
    if (!act) throw new ApiError(0, 'not_ready', project?.reason ?? 'The example was changed meanwhile. Try again.');
    await act();
  }
}
