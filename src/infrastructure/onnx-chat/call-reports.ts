/** Reads the reports of a chat worker about calls. */
import type { Usage } from '../../domain/chat/chat.js';
import { ContextLengthExceeded, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../domain/shared/errors.js';
import type { CallReport, Order } from './protocol.js';

/** An order that begins a call. */
export type FirstOrder = Extract<Order, { type: 'tokenize' | 'tokenize_texts' | 'count_texts' | 'count' }>;

export type ReportOf<Type> = Extract<CallReport, { type: Type }>;

/** A report that ends a call without an answer. */
type FailedReport = ReportOf<'too_long' | 'refused' | 'failed' | 'cancelled'>;

export function refusalOf(order: FirstOrder, report: FailedReport): DomainError {
  switch (report.type) {
    case 'too_long': {
      const { promptTokens: tokens, index = 0 } = report;
      if ('texts' in order) return ContextLengthExceeded.ofText({ ...report, tokens, index });
      const { cutToContext, maxTokens } = order.request;
      if (order.type === 'count') return ContextLengthExceeded.of({ ...report, maxTokens: null });
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

/** Returns the tokens of a cancelled answer. An answer that had not begun has made none. */
export function usageOf(
  promptTokens: number,
  { completionTokens = 0, cachedTokens = 0 }: ReportOf<'cancelled'>,
): Usage {
  return { promptTokens, cachedTokens, completionTokens };
}

/** Decodes float32 numbers from base64. Returns no numbers if the last number is incomplete. */
export function floatsOf(base64: string): Float32Array {
  const { buffer } = Uint8Array.from(Buffer.from(base64, 'base64'));
  return buffer.byteLength % 4 === 0 ? new Float32Array(buffer) : new Float32Array();
}
