import type { components } from './openapi-types.js';
import { isObject } from './spec/fields.js';

type Schemas = components['schemas'];

type Masks = NonNullable<NonNullable<Schemas['Project']['spec']['record']>['mask']>;
/** A kind of personal data or secrets that the service finds by itself. */
export type MaskKind = Exclude<Masks[number], object>;

/** A pattern of the team. Its finds become `[<name>]`. */
export interface OwnMask {
  readonly name: string;
  readonly pattern: string;
}

/** The settings by which a project keeps its calls. */
export interface Recording {
  readonly share: number;
  readonly content: 'none' | 'full';
  readonly days: number;
  readonly mask: readonly (MaskKind | OwnMask)[];
}

const defaults: Recording = { share: 1, content: 'none', days: 30, mask: [] };

/** Returns the settings in the spec of a project. What is missing has its default. Another value than an object keeps nothing. */
export function recordingOf({ record }: Readonly<Record<string, unknown>>): Recording {
  if (record != null && !isObject(record)) return { ...defaults, share: 0 };
  const given = isObject(record) ? Object.entries(record).filter(([, value]) => value !== null) : [];
  const { share, content, days, mask } = { ...defaults, ...Object.fromEntries(given) } as Recording;
  return { share, content, days, mask: Array.isArray(mask) ? mask : [] };
}
