import { useState } from 'preact/hooks';
import { answer, api, baseUrl, type Schemas } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Form, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { Loaded } from '../../shared/states.js';
import type { Deployment } from './deployments.js';
import { type Prediction, PredictionResult } from './prediction-result.js';
import { TensorField } from './tensor-field.js';
import { bodyOf, curlOf, type Entry, type EntryFinding, findingOf, keptEntry, type TensorSpec } from './tensors.js';

/** Asks for the inputs of the model in a form, and shows its answer. */
export function TryPrediction({ deployment }: { deployment: Deployment }) {
  const { id, name, status } = deployment;
  const params = { path: { deployment_id: id, model_name: name } };
  const asked = status === 'running' ? `metadata ${id}` : null;
  const metadata = useQuery(asked, () =>
    answer(api.GET('/v1/deployments/{deployment_id}/v2/models/{model_name}', { params })),
  );
  if (!asked) {
    return (
      <Panel title="Try a prediction">
        <p class="hint">The deployment answers predictions once it is running.</p>
      </Panel>
    );
  }
  return (
    <Panel title="Try a prediction">
      <Loaded query={metadata} what="the inputs of the model">
        {({ inputs }) =>
          inputs.length > 0 ? (
            <PredictionForm key={id} id={id} inputs={inputs} />
          ) : (
            <p class="hint">The model does not describe its inputs.</p>
          )
        }
      </Loaded>
    </Panel>
  );
}

function PredictionForm({ id, inputs }: { id: string; inputs: readonly TensorSpec[] }) {
  const [kept, setEntries] = useDraft<Readonly<Record<string, Entry>>>(`prediction ${id}`);
  const entries = kept ?? {};
  const [findings, setFindings] = useState<readonly EntryFinding[]>([]);
  const [prediction, setPrediction] = useState<Prediction>();
  const [code, setCode] = useState<string>();

  /** Returns the body, or null if an input is no JSON: then its field says so. */
  const checkedBody = (): string | null => {
    const made = bodyOf(inputs, entries);
    setFindings('findings' in made ? made.findings : []);
    return 'body' in made ? made.body : null;
  };
  const predict = useAction(async () => {
    const body = checkedBody();
    if (body === null) return;
    const begun = performance.now();
    const call = api.POST('/v1/deployments/{deployment_id}/predict', {
      params: { path: { deployment_id: id } },
      body: {} as Schemas['Prediction'],
      bodySerializer: () => body,
      headers: { 'Content-Type': 'application/json' },
      parseAs: 'text',
    });
    const text: string = await answer(call);
    setPrediction({ text, seconds: (performance.now() - begun) / 1000 });
  });
  const viewCode = () => {
    const body = checkedBody();
    if (body !== null) setCode(curlOf(`${baseUrl}/v1/deployments/${id}/predict`, body));
  };
  const refused = [...findings, ...(predict.error?.details ?? [])];
  const shown = inputs.map((spec) => findingOf(refused, spec)).filter((one) => one !== undefined);
  return (
    <div class="stack">
      <Form
        class="stack"
        act={{ ...predict, fields: shown.map(({ path }) => path) }}
        submit="Predict"
        actions={
          <>
            {kept && (
              <button type="button" class="button" onClick={() => setEntries(null)}>
                Use the example
              </button>
            )}
            <button type="button" class="button" onClick={viewCode}>
              View code
            </button>
          </>
        }
      >
        <div class="deployments-inputs">
          {inputs.map((spec) => (
            <TensorField
              key={spec.name}
              spec={spec}
              entry={keptEntry(spec, entries[spec.name])}
              error={findingOf(refused, spec)?.message}
              onChange={(entry) => setEntries({ ...entries, [spec.name]: entry })}
            />
          ))}
        </div>
      </Form>
      {prediction && <PredictionResult prediction={prediction} />}
      {code !== undefined && (
        <Dialog title="The same call by curl" wide onClose={() => setCode(undefined)}>
          <p>TENON_KEY is an API key or a session token.</p>
          <pre>{code.length > MOST_CODE ? `${code.slice(0, MOST_CODE)} …` : code}</pre>
          <div class="actions start">
            <CopyButton text={code} />
          </div>
        </Dialog>
      )}
    </div>
  );
}

const MOST_CODE = 5_000;
