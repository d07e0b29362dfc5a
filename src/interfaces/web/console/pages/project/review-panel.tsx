import { signal } from '@preact/signals';
import { can } from '../../shared/account.js';
import { ApiError, answer, api, type Schemas } from '../../shared/api.js';
import { FormError, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { link } from '../../shared/router.js';
import { jumpToPath } from '../../shared/spec/spec-editor.js';

type Project = Schemas['Project'];
type Review = Schemas['ProjectReview'];

/** The last review of each project. It is kept here, because the service does not return a review again. */
const reviews = signal<Readonly<Record<string, Review>>>({});

/** Shows the review of the saved version. Each finding has a link to its place. */
export function ReviewPanel({ project, reload }: { project: Project; reload: () => Promise<void> }) {
  const { id, version, status } = project;
  const params = { path: { project_id: id } };
  const reviewing = useAction(async () => {
    try {
      const created = await answer(api.POST('/v1/projects/{project_id}/plan', { params, body: { version } }));
      reviews.value = { ...reviews.value, [id]: created };
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.currentVersion === null) throw reason;
      throw new ApiError(409, reason.code, `Version ${reason.currentVersion} was saved meanwhile. Review that one.`);
    } finally {
      void reload();
    }
  });
  const review = reviews.value[id];
  return (
    <Panel
      title="Review"
      actions={
        can('edit_workspace') && (
          <button type="button" class="button small" disabled={reviewing.busy} onClick={() => void reviewing.run()}>
            {reviewing.busy ? 'Reviewing …' : `Review version ${version}`}
          </button>
        )
      }
    >
      <div class="stack">
        <FormError error={reviewing.error} />
        {review ? (
          <Verdict review={review} project={project} />
        ) : (
          <p class="hint">
            {status === 'reviewed'
              ? `Version ${version} is reviewed: nothing blocks.`
              : 'A review tells what the spec, its dataset, its models and its runtime lack.'}
          </p>
        )}
      </div>
    </Panel>
  );
}

function Verdict({ review, project }: { review: Review; project: Project }) {
  const { findings, next_steps, ready, version } = review;
  return (
    <>
      <p>
        {ready ? 'Nothing blocks' : 'Something blocks'} version {version}.{' '}
        {version < project.version && <span class="hint">Version {project.version} is not reviewed.</span>}
      </p>
      <ul class="project-findings">
        {findings.map(({ level, code, path, message }) => (
          <li key={code + path} class={`project-finding ${level}`}>
            <p>
              <strong>{level}</strong> <Target path={path} project={project} />
            </p>
            <p>{message}</p>
          </li>
        ))}
      </ul>
      {next_steps.length > 0 && (
        <details>
          <summary>Next steps by the API</summary>
          <ol class="hint">
            {next_steps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

/** Links to the place of a finding: a field of the spec, the models or the runtime. */
function Target({ path, project: { id } }: { path: string; project: Project }) {
  if (path === 'models') return <a href={link(`/projects/${id}/models`)}>models</a>;
  const go = () => (path === 'runtime' ? document.getElementById('runtime')?.focus() : jumpToPath(path));
  return (
    <button type="button" class="jump" onClick={go}>
      {path}
    </button>
  );
}
