import { computed, signal } from '@preact/signals';
import { answer, api, type Schemas } from './api.js';

export type Status = Schemas['Status'];
export type Permission = keyof Status['permissions'];

/** Holds the answer of `GET /v1/status`: the caller's account, role, permissions, limits, runtimes. Null until loaded. */
export const status = signal<Status | null>(null);

/** The signed-in account. */
export const user = computed(() => status.value?.caller.user ?? null);

/** Returns whether the caller's role allows it. Whatever it does not allow is not offered. */
export const can = (permission: Permission): boolean => status.value?.permissions[permission] === true;

/** Returns whether the caller is of the operator team, which alone sees jobs, alerts, logs and deployments. */
export const isOperator = (): boolean => status.value?.caller.operator === true;

export async function loadStatus(): Promise<void> {
  status.value = await answer(api.GET('/v1/status'));
}
