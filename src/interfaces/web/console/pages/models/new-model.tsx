import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { Form, fieldError, useAction } from '../../shared/form.js';
import { draftModel, newUuid, registerModel } from '../../shared/models.js';
import { link, navigate } from '../../shared/router.js';
import { withField } from '../../shared/spec/fields.js';
import { ModelForm } from './model-form.js';

type Spec = Readonly<Record<string, unknown>>;

/** Returns the fields without which a model cannot answer. The service accepts a draft without them. */
const needed = ({ runtime }: Spec): readonly string[] => (runtime === 'onnx' ? ['path'] : ['base_url', 'model']);

const PRICES = ['input', 'output', 'cached_input', 'per_call'].map((name) => `spec.prices.${name}`);

/** Lists the fields that show their findings. */
const shown = (spec: Spec): readonly string[] => [...needed(spec).map((name) => `spec.${name}`), ...PRICES];

/** Creates a draft of a model. The user can also register it at once. */
export function NewModel({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [spec, setSpec] = useState<Spec>({ runtime: 'onnx' });
  const request = useRef({ id: newUuid(), text: '' }); // A repeated call must create only one model.
  const creation = useAction(async (register: boolean) => {
    const missing = needed(spec).filter((name) => !spec[name]);
    if (missing.length > 0) {
      const details = missing.map((name) => ({ path: `spec.${name}`, message: 'The model needs it to answer.' }));
      throw new ApiError(0, 'incomplete', 'The model is incomplete.', null, details);
    }
    const text = JSON.stringify(spec);
    if (text !== request.current.text) request.current = { id: newUuid(), text };
    const draft = await draftModel(projectId, spec, request.current.id);
    if (register && draft.state === 'draft') await registerModel(draft);
    navigate(link(`/projects/${projectId}/models/${draft.id}`));
  });
  return (
    <Dialog title="New draft" onClose={onClose}>
      <Form
        act={{ ...creation, run: () => creation.run(false), fields: shown(spec) }}
        submit="Create"
        onCancel={onClose}
        actions={
          <button type="button" class="button" disabled={creation.busy} onClick={() => void creation.run(true)}>
            Create and register
          </button>
        }
      >
        <ModelForm
          fields={{
            spec,
            readOnly: false,
            set: (path, value) => setSpec(JSON.parse(withField(spec, path, value))),
            error: (path) => fieldError(creation.error, path),
          }}
        />
        <p class="hint">A draft can change. A registered model cannot, and can be connected to the runtime.</p>
      </Form>
    </Dialog>
  );
}
