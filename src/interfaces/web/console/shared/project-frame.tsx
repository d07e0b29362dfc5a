import type { ComponentChildren } from 'preact';
import { answer, api } from './api.js';
import { Frame, Tabs } from './frame.js';
import { useQuery } from './query.js';
import { link } from './router.js';

/** Reads a project, as its frame and its pages do. */
export const useProject = (id: string) =>
  useQuery(`project ${id}`, () =>
    answer(api.GET('/v1/projects/{project_id}', { params: { path: { project_id: id } } })),
  );

/** The frame of the pages of one project: its name and the links between them. */
export function ProjectFrame(props: {
  id: string;
  title?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { id, title, actions, children } = props;
  const project = useProject(id);
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
          ]}
        />
      }
    >
      {children}
    </Frame>
  );
}
