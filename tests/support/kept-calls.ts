import type { Account } from '../../src/domain/accounts/account.js';
import type { FinishedJob, Job } from '../../src/domain/jobs/job.js';
import { searchText } from '../../src/domain/record/call-content.js';
import type { KeptCall } from '../../src/domain/record/kept-call.js';
import type { KeptPart } from '../../src/domain/record/kept-part.js';
import { utf8Bytes } from '../../src/domain/shared/text.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { aCall, at, ids } from './records.js';
import type { Repositories } from './repositories.js';

/** Returns a kept chat without content. It does not expire while the tests run. */
export const aCallOf = (project: Project, account: Account, over: Partial<KeptCall> = {}): KeptCall => ({
  id: ids.next('job'),
  answerId: ids.next('chatcmpl'),
  teamId: project.teamId,
  projectId: project.id,
  accountId: account.id,
  keyId: null,
  modelId: 'mdl_1',
  kind: 'chat',
  status: 'succeeded',
  createdAt: at(0),
  startedAt: at(0),
  finishedAt: at(1),
  usage: null,
  cost: null,
  content: 'none',
  request: null,
  answer: null,
  truncated: false,
  expiresAt: new Date(Date.UTC(2099, 0)),
  ...over,
});

/** Returns a kept chat with one question and its answer. */
export const aKeptCall = (project: Project, account: Account, over: Partial<KeptCall> = {}): KeptCall => {
  const content = { request: asked([{ role: 'user', content: 'France?' }]), answer: answered('Paris') };
  return aCallOf(project, account, { answerId: null, content: 'full', ...content, ...over });
};

export const asked = (messages: readonly JsonObject[]): JsonObject => ({ max_tokens: null, temperature: 0, messages });

export const answered = (content: string, over: JsonObject = {}): JsonObject => ({
  ...{ role: 'assistant', finish_reason: 'stop', content },
  ...over,
});

/** Stores the end of a call, and keeps the call. Returns false if the job has ended already. */
export function keep(
  { jobHistory }: Pick<Repositories, 'jobHistory'>,
  call: KeptCall,
  over: Partial<KeptPart> = {},
): Promise<boolean> {
  const { id, teamId, projectId, accountId: requestedBy, keyId, modelId, kind, status, usage, cost } = call;
  const { createdAt, startedAt, finishedAt } = call;
  const job = aCall({ id, teamId, projectId, requestedBy, modelId, kind, createdAt, startedAt });
  const ofKey = keyId === null ? null : job.usage && { ...job.usage, keyId };
  const end = { ...job, status, finishedAt, usage: usage ?? ofKey, cost } as Job & FinishedJob;
  const [request, answer] = [call.request, call.answer].map((side) => side && JSON.stringify(side)) as [string, string];
  const searched = request && searchText(call.request, call.answer).toLowerCase();
  const bytes = utf8Bytes(request ?? '') + utf8Bytes(answer ?? '');
  return jobHistory.appendWithoutRules(end, { kept: { ...call, request, answer, bytes, searched, ...over } });
}
