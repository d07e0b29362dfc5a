import { injectable } from 'inversify';

/** Describes this instance of the service to callers. */
@injectable()
export class Instance {
  /** Empty until the instance listens. */
  name = '';
  /** True while the starting instance waits for its models. */
  loading = false;
  /** True from the beginning of the shutdown. */
  draining = false;
}
