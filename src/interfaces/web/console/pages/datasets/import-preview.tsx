import { useEffect, useState } from 'preact/hooks';
import { SelectField } from '../../shared/form.js';
import { Table } from '../../shared/table.js';
import {
  guessed,
  type Mapping,
  type Message,
  mappedTo,
  messagesIn,
  PREVIEW_BYTES,
  type Preview,
  previewOf,
  shownFields,
} from './preview.js';
import { type Format, formats } from './source.js';
import { textOf } from './values.js';

/** The most characters of a value in the preview. */
const MOST_SHOWN = 200;

interface Previewed {
  /** The read text. Null: it cannot be read. Undefined: there is no text, or it is not read yet. */
  readonly preview: Preview | null | undefined;
  readonly mapping: Mapping;
}

/** Reads the beginning of the file or text. `chosen` replaces the guessed columns. */
export function usePreview(file: Blob | null, text: string, format: Format, chosen: Partial<Mapping>): Previewed {
  const [preview, setPreview] = useState<Preview | null>();
  useEffect(() => {
    let isLatest = true;
    const read = async () => {
      const start = file ? await file.slice(0, PREVIEW_BYTES).text() : text.slice(0, PREVIEW_BYTES);
      const isWhole = (file ? file.size : text.length) <= PREVIEW_BYTES;
      if (isLatest) setPreview(start.trim() === '' ? undefined : previewOf(format, start, isWhole));
    };
    void read().catch(() => isLatest && setPreview(null));
    return () => {
      isLatest = false;
    };
  }, [file, text, format]);
  const columns = preview?.columns ?? [];
  const known = Object.fromEntries(
    Object.entries(chosen).filter(([, column]) => column === '' || columns.includes(column)),
  );
  return { preview, mapping: { ...guessed(columns), ...known } };
}

/** Shows the first rows of a file as they will be imported, and lets the user choose the columns. */
export function ImportPreview(props: {
  preview: Preview | null;
  format: Format;
  mapping: Mapping;
  error: string | undefined;
  onMap: (mapping: Mapping) => void;
}) {
  const { preview, format, mapping, error, onMap } = props;
  if (preview === null) {
    const message = `The beginning cannot be read as ${formats[format].title}, or has no rows. Is the format right?`;
    return (
      <p class="note warn" role="status">
        {message}
      </p>
    );
  }
  const { rows, columns } = preview;
  const chats = rows.map(messagesIn);
  const areChats = chats.every((chat) => chat !== null);
  const options = columns.map((column) => [column, column] as const);
  const optional = (field: keyof Mapping) => (columns.includes(field) ? [] : [['', 'None'] as const]);
  return (
    <section class="dataset-preview" aria-label="Preview">
      {!areChats && (
        <div class="columns">
          <SelectField
            label="Column with the input"
            value={mapping.input}
            options={[...optional('input'), ...options]}
            error={error}
            onChange={(event) => onMap({ ...mapping, input: event.currentTarget.value })}
          />
          <SelectField
            label="Column with the expected answer"
            value={mapping.expected}
            options={[...optional('expected'), ...options]}
            onChange={(event) => onMap({ ...mapping, expected: event.currentTarget.value })}
          />
          <SelectField
            label="Column with the group"
            value={mapping.group}
            hint="An evaluation has a score for each group."
            options={[...optional('group'), ...options]}
            onChange={(event) => onMap({ ...mapping, group: event.currentTarget.value })}
          />
        </div>
      )}
      {areChats ? (
        <Chats chats={chats as readonly (readonly Message[])[]} />
      ) : (
        <FirstRows rows={rows.map((row) => mappedTo(row, mapping))} />
      )}
    </section>
  );
}

type Row = Readonly<Record<string, unknown>>;

const shortened = (value: unknown): string => textOf(value).slice(0, MOST_SHOWN);

function FirstRows({ rows }: { rows: readonly Row[] }) {
  return (
    <Table<Row>
      label={`The first ${rows.length} rows`}
      columns={shownFields(rows).map((name) => ({
        title: name,
        cell: (row) => <span dir="auto">{shortened(row[name])}</span>,
      }))}
      rows={rows}
      rowKey={(row) => String(rows.indexOf(row))}
    />
  );
}

/** The last message of the assistant is the expected answer. */
function Chats({ chats }: { chats: readonly (readonly Message[])[] }) {
  return (
    <>
      <p class="hint">Each row is a chat. If its last message is the assistant’s, this is the expected answer.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element. */}
      <ol class="dataset-chats" aria-label="The first chats" tabIndex={0}>
        {chats.map((messages, index) => (
          <li key={index}>
            {messages.map(({ role, content }, at) => (
              <p key={at} dir="auto">
                <strong>{role}</strong> {shortened(content)}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}
