import { useEffect, useRef } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct } from '../../shared/dialog.js';
import { plural } from '../../shared/format.js';
import { IconButton } from '../../shared/icon.js';
import { usePaged } from '../../shared/query.js';
import { link, query } from '../../shared/router.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { More } from '../../shared/table.js';
import { toastError } from '../../shared/toasts.js';

const PER_PAGE = 30;

/** Lists the caller's own conversations with a project. The user can continue or delete them. */
export function Conversations(props: {
  projectId: string;
  open: string | null;
  /** Counts the changes that the open chat has made to the list. */
  stored: number;
  onDeleted: (id: string) => void;
  /** The panel that stays open beside a conversation, or null if the screen has no room for it. */
  panel: string | null;
}) {
  const { projectId: project_id, open, stored, onDeleted, panel } = props;
  const list = usePaged(`conversations ${project_id}`, async (cursor) => {
    const query = { limit: PER_PAGE, cursor: cursor ?? undefined };
    const params = { path: { project_id }, query };
    const page = await answer(api.GET('/v1/projects/{project_id}/conversations', { params }));
    return { items: page.conversations, next: page.next_cursor };
  });
  const seen = useRef({ project_id, stored });
  useEffect(() => {
    const isNews = seen.current.project_id === project_id && seen.current.stored !== stored;
    seen.current = { project_id, stored };
    if (isNews) void list.reload();
  }, [project_id, stored]);
  const remove = async ({ id, title }: Schemas['Conversation']) => {
    const text = `“${title}” and all its messages are deleted.`;
    if (!(await confirmAct({ title: 'Delete this conversation?', text, act: 'Delete' }))) return;
    const path = { project_id, conversation_id: id };
    const call = api.DELETE('/v1/projects/{project_id}/conversations/{conversation_id}', { params: { path } });
    await answer(call).then(() => onDeleted(id), toastError);
    await list.reload();
  };
  const place = Object.fromEntries(query.value);
  return (
    <Loaded query={list} what="your conversations">
      {(conversations) =>
        conversations.length === 0 ? (
          <Empty icon="playground" title="No conversation yet">
            <p>An answer is kept here with its question. Nobody else can read it.</p>
          </Empty>
        ) : (
          <>
            <ul class="playground-list">
              {conversations.map((one) => (
                <li key={one.id}>
                  <a
                    href={link('/playground', { ...place, conversation: one.id, panel })}
                    aria-current={one.id === open ? 'true' : undefined}
                  >
                    <span class="playground-title" dir="auto">
                      {one.title}
                    </span>
                    <span class="hint">
                      {plural(one.message_count, 'message')} · <Time at={one.updated_at} />
                    </span>
                  </a>
                  <IconButton icon="trash" label={`Delete ${one.title}`} onClick={() => remove(one)} />
                </li>
              ))}
            </ul>
            <More query={list} />
          </>
        )
      }
    </Loaded>
  );
}
