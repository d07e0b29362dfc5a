import { answer, api } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Field, Form, fieldError, SelectField, useForm } from '../../shared/form.js';
import { formatBytes } from '../../shared/format.js';
import { Choices } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { link, navigate, query } from '../../shared/router.js';
import { Loaded } from '../../shared/states.js';
import { toast } from '../../shared/toasts.js';
import { deleteModelFile, Uploads } from './upload.js';

const EMPTY = {
  name: '',
  /** The name that the chosen file gave. Another file replaces it, but not a name that was entered. */
  given: '',
  model_path: '',
  max_batch: '',
  max_delay_ms: '',
  endpoint: '',
  model_name: '',
  model_version: '',
  key_setting: '',
  per_call: '',
  per_second: '',
};
type Draft = typeof EMPTY;

const PRICES = [
  ['per_call', 'Price for each call', 'Empty: none. Without prices, predictions have no cost.'],
  ['per_second', 'Price for each second', 'Empty: none.'],
] as const;

/** Returns the trimmed text, or null for empty text. */
const orNull = (text: string): string | null => text.trim() || null;

/** Returns the typed price, or null for no text. */
const priceOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

function pricesOf({ per_call, per_second }: Draft) {
  const prices = { per_call: priceOf(per_call), per_second: priceOf(per_second) };
  return prices.per_call === null && prices.per_second === null ? {} : { prices };
}

function requestOf(kind: 'file' | 'engine', draft: Draft) {
  const prices = pricesOf(draft);
  const { name, model_path, max_batch, max_delay_ms, endpoint, model_name, model_version, key_setting } = draft;
  if (kind === 'engine')
    return {
      name,
      endpoint,
      model_name,
      model_version: orNull(model_version),
      key_setting: orNull(key_setting),
      ...prices,
    };
  if (!max_batch.trim()) return { name, model_path, ...prices };
  return {
    name,
    model_path,
    ...prices,
    max_batch: Number(max_batch),
    ...(max_delay_ms.trim() && { max_delay_ms: Number(max_delay_ms) }),
  };
}

/** Deploys a model file or a model on an engine elsewhere, then goes to the deployment. */
export function DeployDialog({ onClose }: { onClose: () => void }) {
  const kind = query.value.get('kind') === 'engine' ? 'engine' : 'file';
  const [kept, setDraft] = useDraft<Draft>('deployment');
  const draft = kept ?? EMPTY;
  const { field, ...deploy } = useForm(draft, setDraft, async () => {
    const { id, name } = await answer(api.POST('/v1/deployments', { body: requestOf(kind, draft) }));
    setDraft(null);
    toast(`${name} is deployed.`);
    navigate(link(`/deployments/${id}`));
  });
  const cancel = () => {
    setDraft(null);
    onClose();
  };
  const choose = (model_path: string) => {
    const given =
      model_path
        .split('/')
        .at(-1)
        ?.replace(/\.onnx$/, '') ?? '';
    deploy.clear();
    setDraft((now) => {
      const { name, given: before } = now ?? EMPTY;
      return { ...(now ?? EMPTY), model_path, given, name: name === '' || name === before ? given : name };
    });
  };
  const isFileRefused = deploy.error?.code === 'model_file_invalid';
  return (
    <Dialog title="Deploy a model" onClose={onClose}>
      <Choices
        label="Where the model is"
        name="kind"
        options={[
          ['file', 'Model file'],
          ['engine', 'Engine elsewhere'],
        ]}
      />
      <Form act={deploy} submit="Deploy" onCancel={cancel}>
        {kind === 'file' ? (
          <>
            <ChooseFile {...field('model_path')} onChoose={choose} isRefused={isFileRefused} />
            <Field label="Name" required maxLength={100} {...field('name')} />
            <details class="deployments-more">
              <summary>Answer waiting requests as one batch</summary>
              <Field
                label="Largest batch"
                type="number"
                min={2}
                max={1024}
                hint="For models that take batches. Empty: each request is answered alone."
                {...field('max_batch')}
              />
              <Field
                label="Longest wait for a batch (ms)"
                type="number"
                min={0}
                max={1000}
                hint="Empty: 5 ms."
                disabled={!draft.max_batch.trim()}
                {...field('max_delay_ms')}
              />
            </details>
          </>
        ) : (
          <>
            <Field label="Name" required maxLength={100} {...field('name')} />
            <Field
              label="Address of the engine"
              required
              type="url"
              placeholder="http://gpu.internal:8000"
              hint="An engine that speaks the Open Inference Protocol. SERVICE_RUNTIME_ALLOWED_HOSTS must allow its host."
              {...field('endpoint')}
            />
            <Field label="Name of the model at the engine" required {...field('model_name')} />
            <Field label="Version" hint="Empty: the engine chooses." {...field('model_version')} />
            <Field
              label="Setting with its key"
              placeholder="SERVICE_RUNTIME_KEY_GPU"
              hint="The name of a setting of the service, never the key itself. Empty: no key."
              {...field('key_setting')}
            />
          </>
        )}
        <details class="deployments-more">
          <summary>Prices</summary>
          {PRICES.map(([name, label, hint]) => (
            <Field
              key={name}
              label={label}
              hint={hint}
              type="number"
              min={0}
              step="any"
              {...field(name)}
              error={fieldError(deploy.error, `prices.${name}`)}
            />
          ))}
        </details>
        {deploy.busy && (
          <p class="hint" role="status">
            The service loads the model before it answers. This may take half a minute.
          </p>
        )}
      </Form>
    </Dialog>
  );
}

/** Lets the user choose an ONNX file. An uploaded file is chosen at once. A refused one can be deleted. */
function ChooseFile(props: {
  value: string;
  onChoose: (path: string) => void;
  error: string | undefined;
  isRefused: boolean;
}) {
  const { value, onChoose, error, isRefused } = props;
  const files = useQuery('onnx files', async () => {
    const { model_files } = await answer(api.GET('/v1/model-files'));
    return model_files.filter(({ kind }) => kind === 'onnx');
  });
  const uploaded = async (path: string) => {
    await files.reload();
    if (path.endsWith('.onnx')) onChoose(path);
  };
  const chosen = files.data?.find(({ path }) => path === value);
  const remove = async () => {
    if (!chosen || !(await deleteModelFile(chosen))) return;
    onChoose('');
    await files.reload();
  };
  return (
    <>
      <Loaded query={files} what="the model files">
        {(found) => (
          <SelectField
            label="Model file"
            required
            value={value}
            error={error}
            options={[
              ['', found.length > 0 ? 'Choose a file' : 'There is no ONNX file yet'],
              ...found.map(({ path, size }) => [path, `${path} (${formatBytes(size)})`] as const),
            ]}
            onChange={({ currentTarget }) => onChoose(currentTarget.value)}
          />
        )}
      </Loaded>
      {isRefused && chosen?.writable && (
        <div class="actions start">
          <button type="button" class="button small danger" onClick={() => void remove()}>
            Delete {value}
          </button>
        </div>
      )}
      <Uploads accept=".onnx" what="an ONNX file" onUploaded={uploaded} />
    </>
  );
}
