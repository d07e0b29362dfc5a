import type { LaneLoad } from '../system/lane.js';
import { counter, gauge, type Source } from './figures.js';

export const hashingFigures = (load: () => LaneLoad): Source => ({
  ask: () => {
    const { running, waiting, refused } = load();
    return [
      gauge('tenon_password_hashing_running', 'Passwords that are being hashed.', running),
      gauge('tenon_password_hashing_waiting', 'Passwords that wait to be hashed.', waiting),
      counter('tenon_password_hashing_refusals_total', 'Passwords that were refused since too many waited.', refused),
    ];
  },
});
