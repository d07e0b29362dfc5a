import type { Account } from '../../src/domain/accounts/account.js';
import { RecordedCall } from '../../src/domain/record/recorded-call.js';
import { Recording } from '../../src/domain/record/recording.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { aCall, ended } from './records.js';

/** Returns a chat with one question that a project keeps for a very long time. */
export const aKeptCall = (project: Project, account: Account, over: Partial<RecordedCall> = {}): RecordedCall => {
  const { teamId, id: projectId } = project;
  const job = ended(aCall({ teamId, projectId, requestedBy: account.id }));
  const masked = { request: asked([{ role: 'user', content: 'France?' }]), answer: answered('Paris') };
  const parts = { answerId: null, recording: Recording.of({}), content: 'full', masked } as const;
  return { ...RecordedCall.of({ ...job, teamId, projectId }, parts), expiresAt: new Date('2999-01-01'), ...over };
};

export const asked = (messages: readonly JsonObject[]): JsonObject => ({ max_tokens: null, temperature: 0, messages });

export const answered = (content: string, over: JsonObject = {}): JsonObject => ({
  ...{ role: 'assistant', finish_reason: 'stop', content },
  ...over,
});
