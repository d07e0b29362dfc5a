import { isObject } from './spec/fields.js';

export const maskKinds = ['email', 'phone', 'card', 'iban', 'ip', 'secret'] as const;
export type MaskKind = (typeof maskKinds)[number];

/** A pattern of the team. Its finds become `[<name>]`. */
export interface OwnMask {
  readonly name: string;
  readonly pattern: string;
}

/** What a project keeps of its calls. */
export interface Recording {
  readonly share: number;
  readonly content: 'none' | 'full';
  readonly days: number;
  readonly mask: readonly (MaskKind | OwnMask)[];
}

const defaults: Recording = { share: 1, content: 'none', days: 30, mask: [] };

/** Returns the settings in the spec of a project. What is missing has its default. */
export function recordingOf({ record }: Readonly<Record<string, unknown>>): Recording {
  const given = isObject(record) ? Object.entries(record).filter(([, value]) => value !== null) : [];
  const { share, content, days, mask } = { ...defaults, ...Object.fromEntries(given) } as Recording;
  return { share, content, days, mask: Array.isArray(mask) ? mask : [] };
}
