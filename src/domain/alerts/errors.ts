import { InvalidRequest } from '../shared/errors.js';

/** Thrown when a webhook's address is not permitted. */
export class WebhookRefused extends InvalidRequest {
  constructor(message: string) {
    super([{ path: 'url', message }]);
  }
}
