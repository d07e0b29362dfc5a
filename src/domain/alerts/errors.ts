import { InvalidRequest } from '../shared/errors.js';

export class TooManyRules extends InvalidRequest {
  constructor(most: number) {
    super([{ path: '', message: `There are ${most} alert rules already, the most there may be: delete one first.` }]);
  }
}

export class TooManyWebhooks extends InvalidRequest {
  constructor(most: number) {
    super([{ path: '', message: `There are ${most} webhooks already, the most there may be: delete one first.` }]);
  }
}

/** Thrown when a webhook's address is not permitted. */
export class WebhookRefused extends InvalidRequest {
  constructor(message: string) {
    super([{ path: 'url', message }]);
  }
}
