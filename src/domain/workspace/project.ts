import { recordFindings } from '../record/recording.js';
import { type Finding, InvalidRequest, StaleVersion } from '../shared/errors.js';
import { atMost } from '../shared/text.js';
import { isObject, type Json, type JsonObject } from './json.js';
import { formatFindings } from './spec-format.js';

export interface Project {
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly version: number;
  readonly spec: JsonObject;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The account that made the current version. */
  readonly updatedBy: string;
  /** The last version that was reviewed without a blocking finding. */
  readonly reviewedVersion: number | null;
}

/** One version of a project. `createdBy` is the account that made this version. */
export type ProjectVersion = Pick<Project, 'version' | 'name' | 'spec' | 'createdBy' | 'createdAt'>;

/** The parts of a project that its team writes. */
export interface ProjectContent {
  readonly name?: string | undefined;
  readonly spec?: JsonObject | undefined;
}

export const Project = {
  /** Throws InvalidRequest. */
  create(draft: Pick<Project, 'id' | 'teamId' | 'createdBy' | 'createdAt'> & ProjectContent): Project {
    const { name = 'Untitled project', spec = {} } = draft;
    const { createdAt: updatedAt, createdBy: updatedBy } = draft;
    return {
      ...draft,
      ...checked({ name, spec }),
      version: 1,
      updatedAt,
      updatedBy,
      reviewedVersion: null,
    };
  },

  /** Throws InvalidRequest. Throws StaleVersion if a version in `expected` is not the project's. */
  update(
    project: Project,
    expected: readonly number[],
    change: ProjectContent & { readonly spec: JsonObject; readonly by: string; readonly at: Date },
  ): Project {
    const content = checked({
      name: change.name ?? project.name,
      spec: change.spec,
    });
    requireVersion(project, expected);
    return {
      ...project,
      ...content,
      version: project.version + 1,
      updatedAt: change.at,
      updatedBy: change.by,
    };
  },

  versionOf: ({ version, name, spec, updatedBy, updatedAt }: Project): ProjectVersion => ({
    version,
    name,
    spec,
    createdBy: updatedBy,
    createdAt: updatedAt,
  }),

  status: (project: Project): 'draft' | 'reviewed' =>
    project.reviewedVersion === project.version ? 'reviewed' : 'draft',
};

/** Throws StaleVersion if a version in `expected` is not the object's. */
export function requireVersion(object: { readonly version: number }, expected: readonly number[]): void {
  if (expected.some((version) => version !== object.version)) throw new StaleVersion(object.version);
}

type CheckedContent = Pick<Project, 'name' | 'spec'>;

function checked(content: CheckedContent): CheckedContent {
  const name = content.name.trim();
  const findings = [...nameFindings(name), ...specFindings(content.spec)];
  if (findings.length > 0) throw new InvalidRequest(findings);
  return { ...content, name };
}

/** Checks the types of the fields that Tenon knows. Other fields can have any value. */
function specFindings(spec: JsonObject): Finding[] {
  const { goal, task, system_prompt, dataset_id, acceptance, response_format, record } = spec;
  const { metric, threshold, field }: JsonObject = isObject(acceptance) ? acceptance : {};
  const texts = { goal, task, system_prompt, dataset_id, 'acceptance.metric': metric, 'acceptance.field': field };
  const wrong = Object.entries(texts).filter(([, value]) => !isAbsent(value) && typeof value !== 'string');
  const findings = wrong.map(([field]) => ({ path: `spec.${field}`, message: 'must be a string' }));
  if (!isAbsent(acceptance) && !isObject(acceptance))
    findings.push({ path: 'spec.acceptance', message: 'must be an object' });
  if (!isAbsent(threshold) && typeof threshold !== 'number')
    findings.push({ path: 'spec.acceptance.threshold', message: 'must be a number' });
  return [
    ...findings,
    ...formatFindings('spec.response_format', response_format),
    ...recordFindings('spec.record', record),
  ];
}

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null;

/** The maximum length of a name in Unicode code points. */
export const NAME_LENGTH = 200;

/** Returns the problems of a name. Ignores white space around the name. */
export function nameFindings(sent: Json): Finding[] {
  const wrong = (message: string) => [{ path: 'name', message }];
  if (typeof sent !== 'string') return wrong('must be a string');
  const name = sent.trim();
  return name !== '' && atMost(name, NAME_LENGTH) ? [] : wrong(`must have 1 to ${NAME_LENGTH} characters`);
}

/** Returns the name with the ending. Shortens the name if the result would be too long. */
export const nameWithEnding = (name: string, ending: string): string =>
  [...name].slice(0, NAME_LENGTH - [...ending].length).join('') + ending;
