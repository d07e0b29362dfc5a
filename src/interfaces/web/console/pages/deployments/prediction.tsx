import { useState } from 'preact/hooks';
import { ApiError, answer, api, baseUrl, type Schemas } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Form, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { useQuery } from '../../shared/query.js';
import { Loaded } from '../../shared/states.js';
import { type Prediction, PredictionResult } from './prediction-result.js';
import { TensorField } from './tensor-field.js';
import { bodyOf, curlOf, type Entry, findingOf, keptEntry, type TensorSpec } from './tensors.js';

type Deployment = Schemas['Deployment'];

export function TryPrediction({ deployment }: { deployment: Deployment }) {
  const { id, name, status } = deployment;
  const params = { path: { deployment_id: id, model_name: name } };
  const key = status === 'running' ? `metadata ${id}` : null;
  const metadata = useQuery(key, () =>
    answer(api.GET('/v1/deployments/{deployment_id}/v2/models/{model_name}', { params })),
  );
  if (!key) {
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
  const [prediction, setPrediction] = useState<Prediction>();
  const [code, setCode] = useState<string>();

  const act = useAction(async (wanted: 'answer' | 'code') => {
    const request = bodyOf(inputs, entries);
    if ('findings' in request) throw new ApiError(0, 'invalid', 'An input is not valid JSON.', null, request.findings);
    const { body } = request;
    if (wanted === 'code') return setCode(curlOf(`${baseUrl}/v1/deployments/${id}/predict`, body));
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
  const refused = act.error?.details ?? [];
  const shown = inputs.map((spec) => findingOf(refused, spec)).filter((one) => one !== undefined);
  return (
    <div class="stack">
      <Form
        class="stack"
        act={{ ...act, run: () => act.run('answer'), fields: shown.map(({ path }) => path) }}
        submit="Predict"
        actions={
          <>
            {kept && (
              <button type="button" class="button" onClick={() => setEntries(null)}>
                Use the example
              </button>
            )}
            <button type="button" class="button" onClick={() => void act.run('code')}>
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
