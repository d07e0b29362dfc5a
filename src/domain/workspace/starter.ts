import type { DatasetRecord } from './dataset-record.js';
import type { JsonObject } from './json.js';

/** Where a starter's records come from, so that a team can judge what a score on them is worth. */
export interface Provenance {
  readonly source: string;
  readonly author: string;
  readonly licence: string;
  /** The day on which the records were made, as `YYYY-MM-DD`. */
  readonly date: string;
  /** How the records were made. */
  readonly method: string;
}

/** A project to begin with: a spec, and a small dataset that fits it. */
export interface Starter {
  /** In small letters with hyphens, such as `capital-cities`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly provenance: Provenance;
  readonly spec: JsonObject;
  readonly dataset: { readonly name: string; readonly records: readonly DatasetRecord[] };
}

export const Starter = {
  /** The groups of its records, each once, in the order in which they first come. */
  groups: ({ dataset }: Starter): string[] => [
    ...new Set(dataset.records.map(({ group }) => group).filter((group) => group !== null)),
  ],
};
