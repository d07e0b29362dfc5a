import type { Container } from 'inversify';
import { Breakers } from '../../src/application/chat/breakers.js';

/** Closes all breakers, so that the failures of one test do not count in the next one. */
export const closeBreakers = (container: Container): void =>
  (Reflect.get(container.get(Breakers), 'watched') as Map<string, unknown>).clear();
