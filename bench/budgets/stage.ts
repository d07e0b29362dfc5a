import type { HttpCaller } from '../../tests/support/http-caller.js';
import type { Member } from '../../tests/support/workspace.js';

/** Creates a budget. Returns its id. */
export async function budget(service: HttpCaller, { token }: Member, about: object): Promise<string> {
  const { status, body } = await service.post('/v1/budgets', token, about);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}
