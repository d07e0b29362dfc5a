import { injectable } from 'inversify';
import { v7 } from 'uuid';
import type { IdGenerator, IdKind } from '../../application/shared/ports.js';

@injectable()
export class UuidIdGenerator implements IdGenerator {
  next(kind: IdKind): string {
    return `${kind}${kind === 'chatcmpl' ? '-' : '_'}${v7()}`;
  }
}
