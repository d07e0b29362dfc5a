import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, answer, api } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Field, Form, fieldError, SelectField, TextField, useAction, useForm } from '../../shared/form.js';
import { formatBytes, plural } from '../../shared/format.js';
import { Icon } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { link, navigate, setQuery } from '../../shared/router.js';
import { toast } from '../../shared/toasts.js';
import { type Dataset, importFile } from './calls.js';
import { ImportPreview, usePreview } from './import-preview.js';
import { type Mapping, mapOf, messagesIn } from './preview.js';
import { byRow, type Format, formatOf, formats, joined, type Piece, piecesOf } from './source.js';

/** The text to import: chosen, dropped or pasted, with the user's corrections. */
interface Source {
  readonly name: string;
  /** The name that the file gave. Another file replaces it, but not a name that was entered. */
  readonly given?: string;
  readonly format: Format;
  readonly text: string;
  /** The columns that the user chose for fields. */
  readonly mapping?: Partial<Mapping>;
  /** All rows of the text, if the service refused it. */
  readonly pieces?: readonly Piece[];
}

const NOTHING: Source = { name: '', format: 'csv', text: '' };
/** The longest text that can be edited. In a longer one, typing would be slow. */
const MOST_SHOWN = 100_000;

/** Imports a dataset from a file, pasted text or a starter. The user can correct refused rows. */
export function ImportDialog(props: { project: string; dropped: File | null; onTaken: () => void }) {
  const { project, dropped, onTaken } = props;
  const [draft, set] = useDraft<Source>(`import ${project}`);
  const source = draft ?? NOTHING;
  const [file, setFile] = useState<File | null>(null);
  const { preview, mapping } = usePreview(file, source.text, source.format, source.mapping ?? {});
  const areChats = preview?.rows.every((row) => messagesIn(row)) ?? false;
  const map = areChats || !preview ? '' : mapOf(mapping);
  const close = () => setQuery({ import: null });
  const change = (next: Partial<Source>) => set((now) => ({ ...NOTHING, ...now, ...next }));
  const done = (dataset: Dataset) => {
    set(null);
    toast(`${dataset.name} is imported with ${plural(dataset.record_count, 'record')}.`);
    navigate(link(`/projects/${project}/datasets/${dataset.id}`));
  };
  const sending = useAction(async () => {
    const { name, format, pieces } = source;
    const text = pieces && pieces.length > 0 ? joined(format, pieces) : source.text;
    const sent = file ?? new Blob([text]);
    try {
      done(await importFile(project, { name: name.trim(), format, map }, sent));
    } catch (reason) {
      if (reason instanceof ApiError && byRow(reason.details).some(({ row }) => row !== null)) {
        const read = file ? await file.text() : text;
        setFile(null);
        change({ text: read, pieces: piecesOf(format, read) });
      }
      throw reason;
    }
  });
  const take = async (taken: File) => {
    const format = formatOf(taken.name, await taken.slice(0, 4096).text());
    sending.clear();
    setFile(taken);
    const given = taken.name.replace(/\.\w+$/, '');
    set((now) => {
      const { name, given: before } = now ?? NOTHING;
      return { name: name === '' || name === before ? given : name, given, format, text: '' };
    });
  };
  useEffect(() => {
    if (!dropped) return;
    onTaken(); // Otherwise, the next visit to this dialog would begin with this file.
    void take(dropped);
  }, [dropped]);
  const paste = (text: string) => {
    sending.clear();
    setFile(null);
    const format = source.text === '' ? formatOf('', text) : source.format;
    change({ text, format, pieces: undefined, mapping: undefined });
  };
  const startOver = () => {
    sending.clear();
    setFile(null);
    set(null);
  };
  const { error } = sending;
  const refused = byRow(error?.details ?? []);
  const rows = refused.flatMap(({ row }) => (row === null ? [] : [`records.${row}`]));
  const beside = (error?.details ?? []).filter(({ path }) => rows.some((row) => path.startsWith(row)));
  return (
    <Dialog title="Import a dataset" wide onClose={close}>
      <Form
        act={{ ...sending, fields: ['name', 'map', ...beside.map(({ path }) => path)] }}
        submit="Import"
        onCancel={close}
        actions={
          (file || source.text) && (
            <button type="button" class="button" onClick={startOver}>
              Start over
            </button>
          )
        }
      >
        <FileChoice file={file} onFile={take} />
        {!file && refused.every(({ row }) => row === null) && source.text.length < MOST_SHOWN && (
          <TextField
            label="Or paste the text"
            class="code"
            rows={6}
            spellcheck={false}
            placeholder={'id,group,input,expected\nfr,europe,What is the capital of France?,Paris'}
            value={source.text}
            onInput={(event) => paste(event.currentTarget.value)}
          />
        )}
        {!file && source.text.length >= MOST_SHOWN && (
          <p class="hint">A text of {formatBytes(source.text.length)} is kept here.</p>
        )}
        {preview !== undefined && rows.length === 0 && (
          <ImportPreview
            {...{ preview, mapping }}
            format={source.format}
            error={fieldError(error, 'map')}
            onMap={(chosen) => change({ mapping: chosen })}
          />
        )}
        {source.pieces && (
          <RefusedRows
            pieces={source.pieces}
            error={error}
            onChange={(pieces) => change({ pieces, text: joined(source.format, pieces) })}
          />
        )}
        <div class="columns">
          <Field
            label="Name"
            maxLength={200}
            value={source.name}
            error={fieldError(error, 'name')}
            onInput={(event) => change({ name: event.currentTarget.value })}
          />
          <SelectField
            label="Format"
            value={source.format}
            options={Object.entries(formats).map(([format, { title }]) => [format, title])}
            onChange={(event) => {
              sending.clear();
              change({ format: event.currentTarget.value as Format, pieces: undefined });
            }}
          />
        </div>
      </Form>
      <Starters project={project} onImported={done} />
    </Dialog>
  );
}

/** Lets the user choose a file. A file can also be dropped anywhere on the page. */
function FileChoice({ file, onFile }: { file: File | null; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="dataset-drop">
      <Icon name="upload" />
      <p>{file ? `${file.name}, ${formatBytes(file.size)}` : 'Drop a CSV, JSON or JSON Lines file here'}</p>
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,.json,.jsonl,.ndjson,text/csv,application/json"
        onChange={() => {
          const chosen = input.current?.files?.[0];
          if (chosen) onFile(chosen);
        }}
      />
      <button type="button" class="button" onClick={() => input.current?.click()}>
        {file ? 'Choose another file' : 'Choose a file'}
      </button>
    </div>
  );
}

/** Shows each refused row with the messages of the service. The user can correct its text there. */
function RefusedRows(props: {
  pieces: readonly Piece[];
  error: ApiError | undefined;
  onChange: (pieces: readonly Piece[]) => void;
}) {
  const { pieces, error, onChange } = props;
  const refused = byRow(error?.details ?? []).filter(({ row }) => row !== null);
  if (refused.length === 0) return null;
  return (
    <section class="dataset-refused" aria-label="Refused rows">
      <p class="note bad" role="alert">
        Nothing is imported yet. Mend {plural(refused.length, 'row')} here, then import again.
      </p>
      {refused.map(({ row, findings }) => {
        const at = pieces.findIndex((piece) => piece.row === row);
        return (
          <TextField
            key={row}
            label={`Row ${(row ?? 0) + 1}`}
            class="code"
            rows={Math.min(6, pieces[at]?.text.split('\n').length ?? 1)}
            spellcheck={false}
            disabled={at < 0}
            value={pieces[at]?.text ?? ''}
            error={findings.map(({ message }) => message).join('; ')}
            onInput={(event) => {
              const text = event.currentTarget.value;
              onChange(pieces.map((piece, index) => (index === at ? { ...piece, text } : piece)));
            }}
          />
        );
      })}
    </section>
  );
}

function Starters({ project, onImported }: { project: string; onImported: (dataset: Dataset) => void }) {
  const starters = useQuery('starters', () => answer(api.GET('/v1/project-starters')));
  const [values, setValues] = useState({ starter_id: '' });
  const importing = useForm(values, setValues, async () => {
    const params = { path: { project_id: project } };
    onImported(await answer(api.POST('/v1/projects/{project_id}/datasets', { params, body: values })));
  });
  const all = starters.data?.starters ?? [];
  if (all.length === 0) return null;
  return (
    <Form class="dataset-starters" act={importing} submit="Import the starter" plain>
      <SelectField
        label="Or begin with a starter"
        hint={all.find(({ id }) => id === values.starter_id)?.description}
        options={[['', 'Choose a starter'], ...all.map(({ id, name }) => [id, name] as const)]}
        {...importing.field('starter_id')}
      />
    </Form>
  );
}
