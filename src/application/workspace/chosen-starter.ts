import { InvalidRequest } from '../../domain/shared/errors.js';
import type { Starter } from '../../domain/workspace/starter.js';
import type { StarterCatalog } from './ports.js';

/** The starter that a request names as its `starter_id`. Throws InvalidRequest. */
export async function chosenStarter(starters: StarterCatalog, id: string): Promise<Starter> {
  const starter = await starters.find(id);
  const message = 'must be the id of a starter: GET /v1/project-starters lists them';
  if (!starter) throw new InvalidRequest([{ path: 'starter_id', message }]);
  return starter;
}
