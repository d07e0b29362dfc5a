import { call } from './api.js';
import { byId, onSubmit } from './forms.js';
import { session } from './session.js';

const PROJECT = /^prj_[0-9a-f-]{36}$/;
const PAUSE_MS = 500;
const PAUSES = 60;

let apiKey = null;

export function prepareFirstCall() {
  byId('project-id').addEventListener('input', showCommand);
  onSubmit(byId('first-call'), makeProject, (projectId) => {
    byId('making').textContent = 'The project is ready.';
    byId('make-project').hidden = true;
    byId('project-id').value = projectId;
    showCommand();
    byId('copy-command').focus();
  });
}

export function showFirstCall(key, role) {
  apiKey = key;
  const edits = role !== 'member';
  byId('make-project').hidden = !edits;
  byId('project-hint').textContent = edits
    ? 'Its runtime must be ready. No project yet? The button makes one that chats with the shipped model, tiny-chat.'
    : 'Ask an admin or a developer of your team for the id of a project whose runtime is ready.';
  showCommand();
}

export function forgetFirstCall() {
  apiKey = null;
  byId('first-call').reset();
  byId('making').textContent = '';
  showCommand();
}

/** Shows the command of a chat call. Hides it while there is no key or no valid project id. */
function showCommand() {
  const project = byId('project-id').value.trim();
  const shown = apiKey !== null && PROJECT.test(project);
  byId('command-part').hidden = !shown;
  byId('command').textContent = shown ? commandFor(project) : '';
}

function commandFor(project) {
  const url = new URL(`v1/projects/${project}/chat/completions`, location.href).href.replaceAll("'", '%27');
  const messages = [{ role: 'user', content: 'What is the capital of France?' }];
  return [
    `curl '${url}'`,
    `-H 'Authorization: Bearer ${apiKey}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ model: project, messages })}'`,
  ].join(' \\\n  ');
}

/** Resolves to the project's id once its runtime is ready, or to the first refusal. */
async function makeProject() {
  const doing = (text) => {
    byId('making').textContent = text;
  };
  const { token } = session;
  try {
    doing('Making the project …');
    const project = await must('POST', 'v1/projects', { token, json: { name: 'First project' } });
    const path = `v1/projects/${project.id}`;
    // A request_id must be new within its project only. This project has no other model yet.
    const request_id = '00000000-0000-4000-8000-000000000001';
    const spec = { runtime: 'onnx', path: 'tiny-chat' };
    const model = await must('POST', `${path}/models`, { token, json: { request_id, spec } });
    await must('POST', `${path}/models/${model.id}/register`, { token, json: { version: model.version } });
    await must('PUT', `${path}/runtime`, { token, json: { model_id: model.id } });
    await must('POST', `${path}/runtime/start`, { token });
    doing('Loading the model …');
    await untilReady(`${path}/runtime`, token);
    return { ok: true, body: project.id };
  } catch (error) {
    doing('');
    return { ok: false, body: { error: error.message } };
  }
}

async function must(method, path, options) {
  const { ok, body } = await call(method, path, options);
  if (!ok) throw new Error(body.error);
  return body;
}

async function untilReady(path, token) {
  for (let left = PAUSES; left > 0; left--) {
    const { state, reason } = await must('GET', path, { token });
    if (state === 'ready') return;
    if (state !== 'loading') throw new Error(`The runtime is ${state}${reason ? `: ${reason}` : ''}.`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error('The model takes long to load. Enter the project’s id when its runtime is ready.');
}
