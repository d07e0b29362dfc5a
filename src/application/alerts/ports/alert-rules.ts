import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { port } from '../../shared/port.js';

export interface AlertRules {
  add(rule: AlertRule): Promise<void>;
  find(id: string): Promise<AlertRule | null>;
  /** Newest first. */
  all(): Promise<AlertRule[]>;
  /** Writes rules; one that is gone stays gone. */
  save(rules: readonly AlertRule[]): Promise<void>;
  /** True when there was one. */
  remove(id: string): Promise<boolean>;
}
export const AlertRules = port<AlertRules>('alerts.AlertRules');
