import { port } from '../../shared/port.js';

/** The passwords that everybody tries first. */
export interface CommonPasswords {
  /** Letter case aside. Never true where the deployment does not refuse common passwords. */
  include(password: string): boolean;
}
export const CommonPasswords = port<CommonPasswords>('accounts.CommonPasswords');
