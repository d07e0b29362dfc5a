import { DomainError } from './errors.js';

interface StorageQuota {
  /** The setting with the limit. */
  readonly setting: string;
  readonly owner: 'Your team' | 'Your account' | 'The service';
  /** The things that the amount counts, for people. */
  readonly things: string;
  readonly remedy: string;
}

/** The limits of what an account, a team or the service may store. */
export const storageQuotas = {
  projects: {
    setting: 'SERVICE_QUOTA_PROJECTS',
    owner: 'Your team',
    things: 'projects',
    remedy: 'delete one first, or ask the operator for a higher limit',
  },
  workspaceBytes: {
    setting: 'SERVICE_QUOTA_WORKSPACE_MB',
    owner: 'Your team',
    things: 'bytes of specs and datasets',
    remedy: 'delete projects, drafts or datasets first, or ask the operator for a higher limit',
  },
  conversationBytes: {
    setting: 'SERVICE_QUOTA_CONVERSATIONS_MB',
    owner: 'Your account',
    things: 'bytes of conversations',
    remedy: 'delete conversations first, or ask the operator for a higher limit',
  },
  responseBytes: {
    setting: 'SERVICE_QUOTA_RESPONSES_MB',
    owner: 'Your account',
    things: 'bytes of responses',
    remedy: 'delete responses first, send store: false, or ask the operator for a higher limit',
  },
  externalJobs: {
    setting: 'SERVICE_QUOTA_EXTERNAL_JOBS',
    owner: 'Your team',
    things: 'external jobs',
    remedy: 'they are kept for ever, so ask the operator for a higher limit',
  },
  uploadBytes: {
    setting: 'SERVICE_QUOTA_UPLOADS_MB',
    owner: 'The service',
    things: 'bytes of uploaded models',
    remedy: 'delete uploaded models first, or ask the operator for a higher limit',
  },
} as const satisfies Record<string, StorageQuota>;

export type QuotaName = keyof typeof storageQuotas;

/** An account, a team or the service would store more than the operator allows. */
export class QuotaExceeded extends DomainError {
  constructor(name: QuotaName, { used, added, limit }: { used: number; added: number; limit: number }) {
    const { setting, owner, things, remedy } = storageQuotas[name];
    const more = added > 0 ? `, this call adds ${added}` : '';
    const message = `${owner} stores ${used} ${things}${more}, and at most ${limit} are allowed (${setting}): ${remedy}.`;
    super('invalid', 'quota_exceeded', message, { details: [{ path: '', message, current: used }] });
  }
}

/** Each row counts for this many bytes besides its content, so that the number of small rows is limited, too. */
export const ROW_BYTES = 200;

const lengthOf = (text: string): number => new TextEncoder().encode(text).length;

/** The bytes that a change of a dataset counts besides its new records. */
export const CHANGE_BYTES = ROW_BYTES + 1;

/** Return the bytes that a stored text, new records of a dataset and a version of a spec count. */
export const textBytes = (text: string): number => lengthOf(text) + ROW_BYTES;
export const changeBytes = ({ bytes }: { readonly bytes: number }): number => bytes + CHANGE_BYTES;
export const specBytes = ({ spec }: { readonly spec: object }): number => textBytes(JSON.stringify(spec));
