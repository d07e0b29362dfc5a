import { v7 } from 'uuid';
import type { Identifiers, IdKind } from '../../application/shared/ports/identifiers.js';

export class UuidIdentifiers implements Identifiers {
  next(kind: IdKind): string {
    return `${kind}${kind === 'chatcmpl' ? '-' : '_'}${v7()}`;
  }
}
