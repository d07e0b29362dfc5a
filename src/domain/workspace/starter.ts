import { InvalidRequest } from '../shared/errors.js';
import type { DatasetRecord } from './dataset-record.js';
import type { JsonObject } from './json.js';

/** The origin of a starter's records. It helps a team to judge a score on these records. */
interface Provenance {
  readonly source: string;
  readonly author: string;
  readonly licence: string;
  /** The day on which the records were made, as `YYYY-MM-DD`. */
  readonly date: string;
  /** Tells how the records were made. */
  readonly method: string;
}

/** A template for a project: a spec and a small dataset that fits it. */
export interface Starter {
  /** Lower-case letters and digits with hyphens, such as `capital-cities`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly provenance: Provenance;
  readonly spec: JsonObject;
  readonly dataset: { readonly name: string; readonly records: readonly DatasetRecord[] };
}

/** Returns the starter that a request names in `starter_id`. Throws InvalidRequest if no starter was found. */
export function requireStarter(found: Starter | null): Starter {
  const message = 'must be the id of a starter: GET /v1/project-starters lists them';
  if (!found) throw new InvalidRequest([{ path: 'starter_id', message }]);
  return found;
}

/** Lists the groups of a starter's records, each once, in the order of their first record. */
export const starterGroups = ({ dataset }: Starter): string[] => [
  ...new Set(dataset.records.map(({ group }) => group).filter((group) => group !== null)),
];
