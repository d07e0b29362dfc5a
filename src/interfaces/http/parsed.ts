import type { z } from 'zod';
import { type Finding, InvalidRequest } from '../../domain/shared/errors.js';
import type { Contract } from './contract.js';

/**
 * Returns what the schema makes of a value. Throws the error that `refusalOf` returns, or else InvalidRequest with a
 * finding for each problem.
 */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, refusalOf?: Contract['refusalOf']): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(withinUnion);
  throw refusalOf?.(issues) ?? new InvalidRequest(findings(issues));
}

/** Returns the deepest issue of a union's alternatives, or the union's own issue if each is about the whole value. */
function withinUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap(([first]) => first ?? []).map(withinUnion);
  const [deepest] = inner.filter(({ path }) => path.length > 0).sort((a, b) => b.path.length - a.path.length);
  return deepest ? { ...deepest, path: [...issue.path, ...deepest.path] } : issue;
}

/** Limits the findings of one refusal. */
const MAX_FINDINGS = 100;

function findings(issues: readonly z.core.$ZodIssue[]): Finding[] {
  const all = issues.slice(0, MAX_FINDINGS).flatMap((issue) => {
    const path = issue.path.map(String);
    if (path.length === 0 && issue.code === 'invalid_type') return [{ path: '', message: 'must be a JSON object' }];
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a field of this request' }));
  });
  const unique = new Map(all.map((finding) => [`${finding.path}\0${finding.message}`, finding]));
  return [...unique.values()].slice(0, MAX_FINDINGS);
}
