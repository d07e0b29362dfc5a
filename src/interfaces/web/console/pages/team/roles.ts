import type { Schemas } from '../../shared/api.js';

export type Role = Schemas['User']['role'];

export const ROLES: readonly (readonly [Role, string])[] = [
  ['admin', 'Admin'],
  ['developer', 'Developer'],
  ['member', 'Member'],
];
