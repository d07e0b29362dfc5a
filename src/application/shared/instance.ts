import { injectable } from 'inversify';

/** Identifies this instance of the service to callers. The name is set once the instance listens. */
@injectable()
export class Instance {
  name = '';
}
