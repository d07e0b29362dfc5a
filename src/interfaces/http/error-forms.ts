/** Lists the forms of refusals besides the service's own. */
import { anthropicErrors } from './chat/anthropic/anthropic-errors.js';
import { openAiErrors } from './chat/openai/openai-errors.js';
import type { ErrorForm } from './error-form.js';

/** The first form that covers a path counts. */
const forms: readonly ErrorForm[] = [anthropicErrors, openAiErrors];

/** Returns the form of the refusals of a path, or null for the service's own form. */
export const formOf = (path: string): ErrorForm | null => forms.find((form) => form.covers(path)) ?? null;
