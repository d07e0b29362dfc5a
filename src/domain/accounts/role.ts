export const roles = ['admin', 'developer', 'member'] as const;
export type Role = (typeof roles)[number];
