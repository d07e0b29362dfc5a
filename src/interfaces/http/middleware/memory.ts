import type { Request, Response } from 'express';
import type { MemoryBudget, Reservation } from '../../../application/shared/memory-budget.js';
import { sourceKey } from './rate-limit.js';

/** Returns the one reservation of memory of a request. It ends with the answer. */
export function reservationOf(memory: MemoryBudget, request: Request, response: Response): Reservation {
  const { context } = request;
  if (context.memory) return context.memory;
  const reservation = memory.open(ownerOf(request));
  context.memory = reservation;
  if (response.closed) reservation.close();
  else response.once('close', () => reservation.close());
  return reservation;
}

/** Returns the account of the caller, also for its keys, or the address of a stranger. */
function ownerOf(request: Request): string {
  const { caller } = request.context;
  if (!caller) return `address ${sourceKey(request).value}`;
  return caller.kind === 'master' ? 'master' : caller.accountId;
}
