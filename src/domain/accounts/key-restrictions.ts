import { DomainError, type Finding, InvalidRequest } from '../shared/errors.js';

/** The permissions of a key: chats and embeddings, predictions, reads, changes. A key that may change may also read. */
export const keyPermissions = ['chat', 'predict', 'read', 'write'] as const;
export type KeyPermission = (typeof keyPermissions)[number];

/** Restrictions take rights from an API key. A key never may more than its owner. */
export interface KeyRestrictions {
  /** The ids of the projects that the key is for. Null: all projects of the team. */
  readonly projects: readonly string[] | null;
  /** The permissions of the key. Null: all that its owner may, on the routes that take keys without permissions. */
  readonly permissions: readonly KeyPermission[] | null;
  /** Each instance counts the requests for itself. Null: only the limit of all callers. */
  readonly requestsPerMinute: number | null;
  /** All instances count together the tokens of the calls of models. Null: no limit. */
  readonly tokensPerMinute: number | null;
  /** The most calls of models that run at the same time, on all instances. Null: no limit. */
  readonly maxConcurrent: number | null;
}

export const keyLimits = {
  projects: 100,
  requestsPerMinute: 1_000_000,
  tokensPerMinute: 1_000_000_000,
  maxConcurrent: 10_000,
} as const;

type Amount = Exclude<keyof typeof keyLimits, 'projects'>;

/** The fields with the names that callers use. */
const amountFields: Readonly<Record<Amount, string>> = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  maxConcurrent: 'max_concurrent',
};

/** The key is not for this route or project. */
export class KeyRestricted extends DomainError {
  constructor(reason: string) {
    super('forbidden', 'key_restricted', `This API key ${reason}.`);
  }
}

export const KeyRestrictions = {
  NONE: {
    projects: null,
    permissions: null,
    requestsPerMinute: null,
    tokensPerMinute: null,
    maxConcurrent: null,
  } as KeyRestrictions,

  /** Returns the restrictions, with each project and permission once. Throws InvalidRequest. */
  checked(sent: KeyRestrictions): KeyRestrictions {
    const { projects, permissions } = sent;
    const findings = [
      ...listFindings('projects', projects, keyLimits.projects),
      ...listFindings('permissions', permissions, keyPermissions.length),
      ...Object.keys(amountFields).flatMap((name) => amountFindings(sent, name as Amount)),
    ];
    if (findings.length > 0) throw new InvalidRequest(findings);
    return {
      ...sent,
      projects: projects && [...new Set(projects)],
      permissions: permissions && keyPermissions.filter((one) => permissions.includes(one)),
    };
  },

  areNone: (restrictions: KeyRestrictions): boolean =>
    Object.values(KeyRestrictions.of(restrictions)).every((value) => value === null),

  /** Returns the restrictions alone. */
  of: ({
    projects,
    permissions,
    requestsPerMinute,
    tokensPerMinute,
    maxConcurrent,
  }: KeyRestrictions): KeyRestrictions => ({
    ...{ projects, permissions, requestsPerMinute, tokensPerMinute, maxConcurrent },
  }),
};

function listFindings(path: string, values: readonly string[] | null, most: number): Finding[] {
  if (values === null || (values.length > 0 && values.length <= most)) return [];
  return [{ path, message: `must list 1 to ${most} values, or be null for no restriction` }];
}

function amountFindings(sent: KeyRestrictions, name: Amount): Finding[] {
  const [value, most] = [sent[name], keyLimits[name]];
  if (value === null || (Number.isInteger(value) && value >= 1 && value <= most)) return [];
  return [{ path: amountFields[name], message: `must be a whole number from 1 to ${most}, or null for no limit` }];
}
