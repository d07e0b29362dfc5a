import type { Service } from '../tests/support/service.js';
import { ask, completions, moveToOwnTeam, ownTeam, readyProject, register } from '../tests/support/workspace.js';
import { budget } from './budgets/stage.js';
import type { Target } from './rounds.js';

export interface AboutTarget {
  readonly name: string;
  readonly question: string;
  /** The settings of the project for keeping its calls. */
  readonly record?: object;
  /** Budgets of the team, which never refuse. */
  readonly budgets?: readonly object[];
  readonly stream?: boolean;
}

/** Returns the chats of a team of its own, whose project asks the engine at `host`. */
export async function chatsOf(
  { service, databaseUrl, host }: { service: Service; databaseUrl: string; host: string },
  { name, question, record, budgets = [], stream }: AboutTarget,
): Promise<Target> {
  const prices = { input: 0.15, output: 0.6 };
  const model = { runtime: 'openai', base_url: `http://${host}/v1`, model: 'm', prices };
  const member = await register(service, name);
  await moveToOwnTeam(databaseUrl, member.id);
  const project = await readyProject(service, member.token, model);
  if (record) {
    const changed = await service.put(`/v1/projects/${project}`, member.token, { version: 1, spec: { record } });
    if (changed.status !== 200) throw new Error(JSON.stringify(changed.body));
  }
  const about = { scope: 'team', scope_id: ownTeam(member.id), limit: 1_000_000_000 };
  for (const one of budgets) await budget(service, member, { ...about, ...one });
  const body = JSON.stringify(ask(project, question, { max_tokens: 512, ...(stream && { stream }) }));
  const headers = { authorization: `Bearer ${member.apiKey}` };
  const path = stream ? '/openai/v1/chat/completions' : completions(project);
  return { name, url: service.url + path, headers, body, pid: service.pid };
}
