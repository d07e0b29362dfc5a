/** Finds and reads the tool calls of one answer. */
import type { CallReader } from '../answer-text.js';
import { StartSearch, StopSearch } from '../text-search.js';
import type { CallForm } from './call-form.js';
import { CallParser } from './call-parser.js';

export interface CallStart {
  /** The names of the tools that the answer may call. */
  readonly names: readonly string[];
  /** If false, calls begin only at the start of the answer. */
  readonly isAnywhere: boolean;
}

export function callReader({ names, isAnywhere }: CallStart, form: CallForm): CallReader {
  const { trigger, followsText, open, before, between } = form;
  const parser = new CallParser(form);
  if (isAnywhere) return { search: new StopSearch(trigger), parser };
  const starts = followsText ? [trigger] : names.map((name) => open + before + name + between);
  return { search: new StartSearch(starts), parser };
}

/** Returns the texts around the parts of calls. */
export const textsOf = ({ open, before, between, after, separator, close }: CallForm): string[] => [
  open,
  before,
  between,
  after,
  separator ?? '',
  close,
];
