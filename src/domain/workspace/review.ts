import { datasetRemarks } from './review-dataset.js';
import { evaluationRemarks } from './review-evaluation.js';
import type { FindingLevel, Reviewed, ReviewFinding } from './review-finding.js';
import { modelRemarks, runtimeRemarks } from './review-model.js';
import { acceptanceRemarks, goalRemarks } from './review-spec.js';

export interface Review {
  readonly projectId: string;
  readonly version: number;
  /** True if no finding blocks. */
  readonly ready: boolean;
  /** Blocking findings first, then warnings, then information. */
  readonly findings: readonly ReviewFinding[];
  readonly nextSteps: readonly string[];
}

const levels: readonly FindingLevel[] = ['blocking', 'warning', 'info'];

/** Lists what a project lacks, what contradicts itself, and the next steps. Deterministic. */
export function review(reviewed: Reviewed): Review {
  const { project } = reviewed;
  const remarks = [
    ...goalRemarks(reviewed),
    ...acceptanceRemarks(reviewed),
    ...datasetRemarks(reviewed),
    ...modelRemarks(reviewed),
    ...runtimeRemarks(reviewed),
    ...evaluationRemarks(reviewed),
  ];
  const sorted = levels.flatMap((level) => remarks.filter((remark) => remark.level === level));
  const steps = sorted.flatMap(({ next }) => next ?? []);
  const chat = `Chat with the model: POST /v1/projects/${project.id}/chat/completions.`;
  return {
    projectId: project.id,
    version: project.version,
    ready: sorted.every(({ level }) => level !== 'blocking'),
    findings: sorted.map(({ next: _, ...finding }) => finding),
    nextSteps: steps.length > 0 ? [...new Set(steps)] : [chat],
  };
}
