import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { formatBytes } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { Icon, IconButton } from '../../shared/icon.js';
import { usePaged } from '../../shared/query.js';
import { link, path, query, setQuery } from '../../shared/router.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { type Column, More, Table } from '../../shared/table.js';
import { deleteModelFile, UploadDialog } from './upload.js';

type File = Schemas['ModelFile'] & { readonly id: string };

const PAGE = 25;

const KINDS = {
  onnx: 'ONNX file',
  chat_model: 'chat model',
  embedding_model: 'embedding model',
  file: 'file',
} as const;

const COLUMNS: readonly Column<File>[] = [
  { title: 'Path', cell: (file) => <code class="deployments-path">{file.path}</code> },
  { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
  { title: 'Size', numeric: true, minor: true, cell: ({ size }) => formatBytes(size) },
  { title: 'Changed', minor: true, cell: ({ modified_at }) => <Time at={modified_at} /> },
];

export function ModelFiles() {
  const manages = can('manage_monitoring');
  const files = usePaged<File>('model files', async (cursor) => {
    const params = { query: { limit: PAGE, ...(cursor && { cursor }) } };
    const { model_files, next_cursor } = await answer(api.GET('/v1/model-files', { params }));
    return { items: model_files.map((file) => ({ ...file, id: file.path })), next: next_cursor };
  });
  const remove = async (file: File) => {
    if (await deleteModelFile(file)) await files.reload();
  };
  const acts: Column<File> = {
    title: 'Actions',
    acts: true,
    cell: (file) =>
      file.writable && <IconButton icon="trash" label={`Delete ${file.path}`} onClick={() => void remove(file)} />,
  };
  return (
    <Panel
      title="Model files"
      actions={
        manages && (
          <a class="button small" href={link(path.value, { dialog: 'upload' })}>
            <Icon name="upload" /> Upload
          </a>
        )
      }
    >
      <Loaded query={files} what="the model files">
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="models" title="There are no model files yet" />
          ) : (
            <div class="stack">
              <Table
                label="Files of the models folders"
                columns={manages ? [...COLUMNS, acts] : COLUMNS}
                rows={rows}
                rowKey={({ id }) => id}
              />
              <More query={files} />
            </div>
          )
        }
      </Loaded>
      {manages && query.value.get('dialog') === 'upload' && (
        <UploadDialog onClose={() => setQuery({ dialog: null })} onUploaded={files.reload} />
      )}
    </Panel>
  );
}
