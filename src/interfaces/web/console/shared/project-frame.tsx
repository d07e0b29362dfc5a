import type { ComponentChildren } from 'preact';
import { answer, api, type Schemas } from './api.js';
import { Frame, Tabs } from './frame.js';
import { type Query, useQuery } from './query.js';
import { link } from './router.js';

type Project = Schemas['Project'];

/** Reads a project. Its frame and its pages share the answer. */
export const useProject = (id: string | null, options: Parameters<typeof useQuery<Project>>[2] = {}) =>
  useQuery(
    id && `project ${id}`,
    () => answer(api.GET('/v1/projects/{project_id}', { params: { path: { project_id: id ?? '' } } })),
    options,
  );

/** Draws the frame of the pages of one project. Reads the project if `project` is missing. */
export function ProjectFrame(props: {
  id: string;
  project?: Query<Project>;
  title?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { id, title, actions, children } = props;
  const loaded = useProject(props.project ? null : id);
  const project = props.project ?? loaded;
  const name = project.data?.name ?? 'Project';
  const place = `/projects/${id}`;
  const above = [{ title: 'Projects', href: link('/projects') }];
  return (
    <Frame
      title={title ?? name}
      above={title ? [...above, { title: name, href: link(place) }] : above}
      actions={actions}
      tabs={
        <Tabs
          label="Project"
          tabs={[
            ['Specification', place],
            ['History', `${place}/history`],
            ['Datasets', `${place}/datasets`],
            ['Models', `${place}/models`],
            ['Calls', `${place}/calls`],
            ['Recording', `${place}/recording`],
          ]}
        />
      }
    >
      {children}
    </Frame>
  );
}
