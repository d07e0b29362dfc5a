import { computed, signal } from '@preact/signals';
import { answer, api, type Schemas } from './api.js';

export type Status = Schemas['Status'];
export type Permission = keyof Status['permissions'];

/** The answer of `GET /v1/status`, or null until it is loaded. */
export const status = signal<Status | null>(null);

export const user = computed(() => status.value?.caller.user ?? null);

/** Returns whether the caller has the permission now. */
export const can = (permission: Permission): boolean => status.value?.permissions[permission] === true;

export const CONFIRM_FIRST = 'Confirm your e-mail address first.';

/** Returns why the caller's role is not enough yet, or null. The banner of the layout shows the way out. */
export const whyNotYet = (permission: Permission): string | null =>
  status.value?.needs_verification.includes(permission) ? CONFIRM_FIRST : null;

/**
 * Returns whether the console shows an action: the caller has the permission, or gets it with a verified e-mail. An
 * action that the role forbids is left out. Draw the action with `ActionButton` and `whyNotYet`.
 */
export const offers = (permission: Permission): boolean => can(permission) || whyNotYet(permission) !== null;

/** Returns whether the caller belongs to the operator team. Only this team sees alerts, logs and deployments. */
export const isOperator = (): boolean => status.value?.caller.operator === true;

/** Returns a message of the service. Only operators see the names of settings, because others cannot change them. */
export const forUser = (message: string): string =>
  isOperator() ? message : message.replaceAll(/ \(SERVICE_\w+\)/g, '');

/** A status is new for this long. */
const NEW_FOR_MS = 3_000;
let loadedAt = Number.NEGATIVE_INFINITY;

export async function loadStatus(): Promise<void> {
  status.value = await answer(api.GET('/v1/status'));
  loadedAt = performance.now();
}

/** Returns the status. At the start, returns the one that was loaded for the account, instead of a second one. */
export async function newStatus(): Promise<Status> {
  const isNew = performance.now() - loadedAt < NEW_FOR_MS;
  return status.value && isNew ? status.value : answer(api.GET('/v1/status'));
}
