import { type FindingLevel, isBlank, type Remark, type Reviewed, type ReviewFinding } from './remark.js';
import { acceptanceRemarks } from './review-acceptance.js';
import { datasetRemarks } from './review-dataset.js';
import { evaluationRemarks } from './review-evaluation.js';
import { modelRemarks, runtimeRemarks } from './review-model.js';

export interface Review {
  readonly projectId: string;
  readonly version: number;
  /** Nothing is blocking. */
  readonly ready: boolean;
  /** What blocks first, then warnings, then what is good to know. */
  readonly findings: readonly ReviewFinding[];
  readonly nextSteps: readonly string[];
}

const levels: readonly FindingLevel[] = ['blocking', 'warning', 'info'];

/** What is missing in a project, what contradicts, and what to do next. The same project gets the same review. */
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

function* goalRemarks({ project }: Reviewed): Generator<Remark> {
  const { spec } = project;
  const update = `PUT /v1/projects/${project.id} with version ${project.version}`;
  if (isBlank(spec.goal)) {
    yield {
      level: 'blocking',
      code: 'goal_missing',
      path: 'spec.goal',
      message: 'The spec does not say what the project is for, so nobody can tell whether a model serves it.',
      next: `Say in a sentence what the model is to do, in spec.goal: ${update}.`,
    };
  }
  if (isBlank(spec.task)) {
    yield {
      level: 'info',
      code: 'task_missing',
      path: 'spec.task',
      message: 'The spec names no task, such as "chat", "classification" or "extraction".',
    };
  }
  if (isBlank(spec.system_prompt)) {
    yield {
      level: 'info',
      code: 'system_prompt_missing',
      path: 'spec.system_prompt',
      message: 'The spec has no system prompt: the model is asked with the records alone.',
    };
  }
}
