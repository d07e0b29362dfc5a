import { useState } from 'preact/hooks';
import { Dialog } from '../../shared/dialog.js';
import { Field, TextField } from '../../shared/form.js';
import { Icon, IconButton } from '../../shared/icon.js';
import type { Row } from './changes.js';
import { Origin } from './origin.js';
import { BASE_FIELDS, type DatasetRecord, fieldOf, parseExact, textOf } from './values.js';

/** A field with its typed text. */
interface Typed {
  readonly name: string;
  readonly text: string;
  readonly kind: 'text' | 'json';
}

const LINE = 60;
const MOST_LINES = 12;
const linesOf = (text: string) =>
  Math.min(
    MOST_LINES,
    text.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / LINE), 0),
  );

const typed = (record: DatasetRecord): Typed[] =>
  [...BASE_FIELDS, ...Object.keys(record.fields)].map((name) => {
    const value = fieldOf(record, name);
    const empty = value === null && (BASE_FIELDS as readonly string[]).includes(name);
    return { name, text: empty ? '' : textOf(value), kind: typeof value === 'string' || empty ? 'text' : 'json' };
  });

/** Returns why the text of a `json` field is not JSON. Returns undefined if it is JSON, and for a `text` field. */
function problemOf({ kind, text }: Typed): string | undefined {
  if (kind === 'text') return undefined;
  try {
    parseExact(text);
  } catch (reason) {
    return `This is not JSON: ${(reason as Error).message}`;
  }
  return undefined;
}

/** Returns the record of the typed fields. A field that did not change gets its exact value from `before`. */
function recordOf(fields: readonly Typed[], before: DatasetRecord): DatasetRecord {
  const untouched = typed(before);
  const values = fields.map((field) => {
    const { name, text, kind } = field;
    const same = untouched.some((one) => one.name === name && one.text === text && one.kind === kind);
    return [name, same ? fieldOf(before, name) : kind === 'json' ? parseExact(text) : text] as const;
  });
  const { id, group, input, expected, ...further } = Object.fromEntries(values);
  const origin = before.origin && { origin: before.origin };
  return { id: String(id), group: group ? String(group) : null, input, expected, fields: further, ...origin };
}

/** Shows a whole record. If it is editable, each valid change is reported at once through `onChange`. */
export function RecordDialog(props: {
  row: Row;
  findings: readonly string[];
  editable: boolean;
  /** The steps to the neighbouring records, or null at the ends. */
  onStep: { readonly before: (() => void) | null; readonly after: (() => void) | null };
  /** Changes the record. null deletes it. undefined removes all its changes. */
  onChange: (record: DatasetRecord | null | undefined) => void;
  onClose: () => void;
}) {
  const { row, findings, editable, onStep, onChange, onClose } = props;
  const [fields, setFields] = useState<readonly Typed[]>(() => typed(row.record));
  const [before] = useState(row.record);
  const [name, setName] = useState('');
  const deleted = row.change === 'deleted';
  const writable = editable && !deleted;
  const problems = fields.map(problemOf);
  const valid = !problems.some(Boolean);
  const setAll = (next: readonly Typed[]) => {
    setFields(next);
    if (!next.some(problemOf)) onChange(recordOf(next, before));
  };
  const change = (at: number, next: Partial<Typed>) =>
    setAll(fields.map((field, index) => (index === at ? { ...field, ...next } : field)));
  const close = () => valid && onClose();
  const nameTaken = fields.some((field) => field.name === name.trim()) || name.trim() === 'fields';
  return (
    <Dialog title={row.change === 'added' ? 'New record' : `Record ${row.record.id}`} wide onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          close();
        }}
      >
        {findings.length > 0 && (
          <div class="note warn">
            {findings.map((finding) => (
              <p key={finding}>{finding}</p>
            ))}
          </div>
        )}
        <Origin origin={row.record.origin} />
        {deleted && <p class="note warn">This record is deleted as soon as the dataset is saved.</p>}
        {fields.map((field, at) => {
          const isFurther = !(BASE_FIELDS as readonly string[]).includes(field.name);
          return (
            <div class="dataset-field" key={field.name}>
              {field.name === 'id' || field.name === 'group' ? (
                <Field
                  label={field.name}
                  maxLength={200}
                  asText={!writable}
                  value={field.text}
                  onInput={(event) => change(at, { text: event.currentTarget.value })}
                />
              ) : (
                <TextField
                  label={field.name}
                  rows={linesOf(field.text)}
                  class={field.kind === 'json' ? 'code' : ''}
                  asText={!writable}
                  value={field.text}
                  error={problems[at]}
                  onInput={(event) => change(at, { text: event.currentTarget.value })}
                />
              )}
              {writable && field.name !== 'id' && field.name !== 'group' && (
                <div class="dataset-field-kind">
                  <select
                    aria-label={`Kind of ${field.name}`}
                    onChange={(event) => change(at, { kind: event.currentTarget.value as Typed['kind'] })}
                  >
                    <option value="text">Text</option>
                    <option value="json" selected={field.kind === 'json'}>
                      JSON
                    </option>
                  </select>
                  {isFurther && (
                    <IconButton
                      icon="trash"
                      label={`Remove the field ${field.name}`}
                      onClick={() => setAll(fields.filter((_, index) => index !== at))}
                    />
                  )}
                </div>
              )}
            </div>
          );
        })}
        {writable && (
          <div class="dataset-field">
            <Field
              label="Another field"
              placeholder="name"
              maxLength={200}
              value={name}
              error={nameTaken ? 'The record has this field already.' : undefined}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <div class="dataset-field-kind">
              <button
                type="button"
                class="button"
                disabled={name.trim() === '' || nameTaken}
                onClick={() => {
                  setAll([...fields, { name: name.trim(), text: '', kind: 'text' }]);
                  setName('');
                }}
              >
                <Icon name="plus" /> Add
              </button>
            </div>
          </div>
        )}
        <div class="actions">
          <span class="dataset-steps">
            <button type="button" class="button" disabled={!onStep.before || !valid} onClick={() => onStep.before?.()}>
              <Icon name="back" /> Previous
            </button>
            <button type="button" class="button" disabled={!onStep.after || !valid} onClick={() => onStep.after?.()}>
              Next <Icon name="next" />
            </button>
          </span>
          {editable && row.change && (
            <button
              type="button"
              class="button"
              onClick={() => {
                onChange(undefined);
                onClose();
              }}
            >
              {row.change === 'added' ? 'Remove' : 'Undo the change'}
            </button>
          )}
          {writable && row.change !== 'added' && (
            <button
              type="button"
              class="button danger"
              onClick={() => {
                onChange(null);
                onClose();
              }}
            >
              Delete
            </button>
          )}
          <button type="submit" class="button primary" disabled={!valid}>
            Done
          </button>
        </div>
      </form>
    </Dialog>
  );
}
