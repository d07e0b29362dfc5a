import type { HttpCaller } from './http-caller.js';
import { sendJson } from './local-server.js';
import { completion, type Script } from './scripted-engine.js';
import { PATIENCE_MS } from './until.js';
import { registeredModel, untilState } from './workspace.js';

export interface Evaluated {
  readonly project: string;
  readonly dataset: string;
  readonly model: string;
}

/** Returns records such as `{ id: 'r1', group: 'odd', input: 'question 1', expected: 'answer 1' }`. */
export const records = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `r${index + 1}`,
    group: index % 2 ? 'even' : 'odd',
    input: `question ${index + 1}`,
    expected: `answer ${index + 1}`,
  }));

/** Returns the right answer to a record of `records`, or a wrong one if `wrong` is true for its number. */
export const answerTo = (question: string, wrong: (number: number) => boolean): string => {
  const number = Number(question.split(' ').at(-1));
  return wrong(number) ? 'no idea' : `Answer ${number}.`;
};

/** Makes an engine answer the records of `records`. */
export const answering =
  (wrong: (number: number) => boolean = () => false): Script =>
  ({ body }, response) => {
    const content = answerTo(body.messages.at(-1).content, wrong);
    sendJson(response, 200, completion(body.model, content, { usage: { prompt_tokens: 5, completion_tokens: 2 } }));
  };

/** Creates a project with a frozen dataset and a ready runtime. */
export async function evaluatedProject(
  service: HttpCaller,
  token: string,
  { spec, model, rows }: { spec: object; model: object; rows: readonly object[] },
): Promise<Evaluated> {
  const { body } = await service.post('/v1/projects', token, { name: 'Evaluated', spec });
  const project = body.id as string;
  const dataset = await frozenDataset(service, token, project, rows);
  const id = await registeredModel(service, token, project, model);
  await service.put(`/v1/projects/${project}/runtime`, token, { model_id: id });
  await service.post(`/v1/projects/${project}/runtime/start`, token);
  await untilState(service, token, project, 'ready');
  return { project, dataset, model: id };
}

export async function frozenDataset(
  service: HttpCaller,
  token: string,
  project: string,
  rows: readonly object[],
): Promise<string> {
  const datasets = `/v1/projects/${project}/datasets`;
  const { body } = await service.post(datasets, token, { name: 'Questions', records: rows });
  const { status } = await service.post(`${datasets}/${body.id}/freeze`, token);
  if (status !== 200) throw new Error(`freeze: ${status}`);
  return body.id;
}

/** Waits until a job has ended, and returns it. Throws only if its progress stops for too long. */
export async function ended(service: HttpCaller, token: string, id: string) {
  let until = 0;
  let done: number | null = null;
  for (let pause = 20; ; pause = Math.min(200, 1.5 * pause)) {
    const { body } = await service.get(`/v1/jobs/${id}`, token);
    if (body.finished_at !== null) return body;
    if (body.progress?.done !== done || until === 0) {
      done = body.progress?.done;
      until = Date.now() + PATIENCE_MS;
    }
    if (Date.now() > until) throw new Error(`the job is still ${body.status}: ${JSON.stringify(body.progress)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
