import { ContextLengthExceeded, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../domain/shared/errors.js';
import type { CallReport, Order } from './protocol.js';

export type TokenizeOrder = Extract<Order, { type: 'tokenize' | 'tokenize_texts' }>;

/** Returns the error for the caller of a call that a chat worker ended without an answer. */
export function refusalOf(
  order: TokenizeOrder,
  report: Exclude<CallReport, { type: 'tokenized' | 'completed' | 'embedded' }>,
): DomainError {
  switch (report.type) {
    case 'too_long': {
      const { promptTokens: tokens, index = 0 } = report;
      if (order.type === 'tokenize_texts') return ContextLengthExceeded.ofText({ ...report, tokens, index });
      const { cutToContext, maxTokens } = order.request;
      return ContextLengthExceeded.of({ ...report, maxTokens: cutToContext ? null : maxTokens });
    }
    case 'refused':
      return new InvalidRequest([{ path: report.path, message: report.message }]);
    case 'failed':
      return new RuntimeInvalidResponse(report.reason);
    case 'cancelled':
      return new RuntimeInvalidResponse('it dropped the call.');
  }
}
