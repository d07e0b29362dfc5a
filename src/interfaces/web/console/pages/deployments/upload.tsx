import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, answer, api, type Schemas, upload } from '../../shared/api.js';
import { confirmAct, Dialog } from '../../shared/dialog.js';
import { Field } from '../../shared/form.js';
import { formatBytes, formatShare } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { guardLeaving } from '../../shared/router.js';
import { ErrorNote } from '../../shared/states.js';
import { toast, toastError } from '../../shared/toasts.js';
import { modelFileRoute, uploadPath } from './uploads.js';

interface Transfer {
  readonly path: string;
  readonly size: number;
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'uploaded' | 'cancelled' | 'failed';
  readonly error?: ApiError;
}

/** A file, and its path, which begins with the chosen folder if there is one. */
interface Chosen {
  readonly file: File;
  readonly path: string;
}

const chosenFiles = (files: FileList | null | undefined): Chosen[] =>
  [...(files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));

/** Returns the dropped files, and the files in dropped folders with their paths. */
async function droppedFiles(transfer: DataTransfer): Promise<Chosen[]> {
  // Reads the lists of the event before the first await, because they are empty afterwards.
  const files = chosenFiles(transfer.files);
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return entries.some(({ isDirectory }) => isDirectory) ? (await Promise.all(entries.map(filesWithin))).flat() : files;
}

async function filesWithin(entry: FileSystemEntry): Promise<Chosen[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ file, path: entry.fullPath.slice(1) }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break; // A browser returns the entries in parts.
    found.push(...some);
  }
  return (await Promise.all(found.map(filesWithin))).flat();
}

/** Returns whether the file is visible. Hidden files, such as those of version control, do not belong to a model. */
const isVisible = ({ path }: Chosen): boolean => !path.split('/').some((part) => part.startsWith('.'));

/** Uploads model files one after the other and shows the progress of each. */
export function Uploads(props: {
  accept?: string;
  what: string;
  folder?: string;
  onUploaded: (path: string) => Promise<void>;
}) {
  const { accept, what, folder = '', onUploaded } = props;
  const [transfers, setTransfers] = useState<readonly Transfer[]>([]);
  const [over, setOver] = useState(false);
  const stop = useRef<AbortController | null>(null);
  const uploaded = useRef(onUploaded); // The form may have changed since the upload began.
  uploaded.current = onUploaded;
  const id = useId();
  const busy = transfers.some(({ state }) => state === 'waiting' || state === 'sending');
  // Before the page shows the upload. An effect would come later, and a visitor could leave before it.
  useLayoutEffect(() => {
    if (!busy) return;
    guardLeaving(() => confirm('A file is still being uploaded. Leave and cancel the upload?'));
    return () => guardLeaving(null);
  }, [busy]);
  useEffect(() => () => stop.current?.abort(), []);

  const send = async (all: readonly Chosen[]) => {
    const files = all.length > 1 ? all.filter(isVisible) : all;
    if (files.length === 0 || busy) return;
    const control = new AbortController();
    stop.current = control;
    const list = files.map(({ file, path }) => ({ file, path: uploadPath(folder, path) }));
    setTransfers(list.map(({ file, path }) => ({ path, size: file.size, sent: 0, state: 'waiting' })));
    for (const { file, path } of list) {
      const change = (changes: Partial<Transfer>) =>
        setTransfers((before) => before.map((one) => (one.path === path ? { ...one, ...changes } : one)));
      change({ state: 'sending' });
      try {
        const onProgress = (sent: number) => change({ sent });
        await upload<Schemas['UploadedModelFile']>(modelFileRoute(path), file, { onProgress, signal: control.signal });
        await uploaded.current(path);
        change({ state: 'uploaded' });
      } catch (reason) {
        change(reason instanceof ApiError ? { state: 'failed', error: reason } : { state: 'cancelled' });
      }
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the input within is for all.
    <div
      class={over ? 'deployments-drop over' : 'deployments-drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) void droppedFiles(event.dataTransfer).then(send);
      }}
    >
      <input
        id={id}
        class="deployments-file"
        type="file"
        multiple
        accept={accept}
        disabled={busy}
        onChange={({ currentTarget }) => {
          void send(chosenFiles(currentTarget.files));
          currentTarget.value = '';
        }}
      />
      <label for={id}>
        <Icon name="upload" /> Drop {what} here, or <span class="deployments-choose">choose what to upload</span>
      </label>
      {transfers.map((one) => (
        <TransferLine
          key={one.path}
          transfer={one}
          onDelete={() => setTransfers((before) => before.filter(({ path }) => path !== one.path))}
        />
      ))}
      {busy && (
        <button type="button" class="button small" onClick={() => stop.current?.abort()}>
          Cancel the upload
        </button>
      )}
    </div>
  );
}

/** Shows one upload. `onDelete` takes a refused one off the list: the service has stored nothing of it. */
const TransferLine = (props: { transfer: Transfer; onDelete: () => void }) => {
  const { path, size, sent, state, error } = props.transfer;
  return (
    <div class="deployments-transfer">
      <span>
        <code>{path}</code> {state === 'sending' ? `${formatBytes(sent)} of ${formatBytes(size)}` : state}
        {state === 'sending' && size > 0 && `, ${formatShare(sent / size)}`}
      </span>
      {state === 'sending' && <progress aria-label={`Upload of ${path}`} max={size || 1} value={sent} />}
      {error && (
        <ErrorNote error={error}>
          <button type="button" class="button small" aria-label={`Delete ${path}`} onClick={props.onDelete}>
            Delete
          </button>
        </ErrorNote>
      )}
    </div>
  );
};

/** Asks, then deletes the file, or the folder of a model. Returns whether it is gone, and tells so. */
export async function deleteModelFile({ path: name, kind }: Schemas['ModelFile']): Promise<boolean> {
  const folder = kind === 'chat_model' || kind === 'embedding_model';
  const sure = await confirmAct({
    title: `Delete ${name}?`,
    text: `${folder ? 'All its files are deleted.' : 'The file is deleted.'} A running model goes on, but cannot be started again.`,
    act: 'Delete',
  });
  if (!sure) return false;
  const params = { path: { path: name } };
  try {
    await answer(api.DELETE('/v1/model-files/{path}', { params, pathSerializer: withSlashes }));
  } catch (reason) {
    toastError(reason);
    return false;
  }
  toast(`${name} is deleted.`);
  return true;
}

/** Puts the path of a file into a route and keeps its slashes. */
const withSlashes = (route: string, { path }: Record<string, unknown>): string =>
  route.replace('/v1/model-files/{path}', modelFileRoute(String(path)));

/** Uploads files of any kind, for example a chat model with several files. */
export function UploadDialog({ onClose, onUploaded }: { onClose: () => void; onUploaded: () => Promise<void> }) {
  const [folder, setFolder] = useState('');
  return (
    <Dialog title="Upload model files" onClose={onClose}>
      <p class="hint">
        Drop a whole folder to upload a chat model. A file of the same path is replaced; running models keep what they
        have loaded.
      </p>
      <Field
        label="Folder"
        placeholder="my-model/onnx"
        hint="Empty: directly in the folder of the uploaded models."
        value={folder}
        onInput={({ currentTarget }) => setFolder(currentTarget.value)}
      />
      <Uploads what="files or a folder" folder={folder} onUploaded={onUploaded} />
    </Dialog>
  );
}
