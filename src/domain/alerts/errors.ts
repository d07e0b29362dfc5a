import { InvalidRequest } from '../shared/errors.js';

export class TooManyRules extends InvalidRequest {
  constructor(most: number) {
    super([{ path: '', message: `There are ${most} alert rules already, the most there may be: delete one first.` }]);
  }
}
