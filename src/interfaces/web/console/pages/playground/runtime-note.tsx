import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { FormError, useAction } from '../../shared/form.js';
import type { Query } from '../../shared/query.js';
import { link } from '../../shared/router.js';
import { QueryError } from '../../shared/states.js';

/** Shows why the project cannot answer, with the actions that the caller's role allows. */
export function RuntimeNote({ project }: { project: Query<Schemas['Project']> }) {
  const start = useAction(async (project_id: string) => {
    await answer(api.POST('/v1/projects/{project_id}/runtime/start', { params: { path: { project_id } } }));
    void project.reload();
  });
  if (!project.data) return <QueryError query={project} />;
  const { id, runtime } = project.data;
  if (runtime.state === 'ready') return null;
  if (runtime.state === 'loading') {
    return (
      <p class="note" role="status">
        The model is loading. A question that you send now is asked as soon as it is ready.
      </p>
    );
  }
  const mayEdit = can('edit_workspace');
  return (
    <div class="note warn" role="status">
      {runtime.state === 'not_connected' && (
        <p>No model is connected to this project.{mayEdit ? '' : ' An admin or a developer can connect one.'}</p>
      )}
      {runtime.state === 'stopped' && (
        <p>The runtime is stopped.{mayEdit ? '' : ' An admin or a developer can start it.'}</p>
      )}
      {runtime.state === 'unavailable' && <p>The runtime is unavailable: {runtime.reason}</p>}
      <FormError error={start.error} />
      <div class="actions start">
        {runtime.state === 'stopped' && mayEdit && (
          <button type="button" class="button small" disabled={start.busy} onClick={() => start.run(id)}>
            {start.busy ? 'Starting …' : 'Start the runtime'}
          </button>
        )}
        {runtime.state !== 'stopped' && mayEdit && (
          <a class="button small" href={link(`/projects/${id}`, { at: 'runtime' })}>
            {runtime.state === 'not_connected' ? 'Connect a model' : 'Open the runtime'}
          </a>
        )}
      </div>
    </div>
  );
}
