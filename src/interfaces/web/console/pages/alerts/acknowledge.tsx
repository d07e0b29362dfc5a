import { useEffect, useRef, useState } from 'preact/hooks';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { useDraft } from '../../shared/draft.js';
import { Form, TextField, useForm } from '../../shared/form.js';
import { plural } from '../../shared/format.js';
import { toast } from '../../shared/toasts.js';
import { oneByOne, type PacingState, quotaOf } from './pacing.js';

type Alert = Schemas['Alert'];

const NOTE_LENGTH = 1_000;

/** Asks for a note and acknowledges the alerts. `onAcked` gets the acknowledged ones, also after a failure. */
export function AcknowledgeDialog(props: {
  alerts: readonly Alert[];
  onAcked: (alerts: readonly Alert[]) => void;
  onClose: () => void;
}) {
  const { alerts, onAcked, onClose } = props;
  const left = useRef(alerts.map(({ id }) => id));
  const [kept, setDraft] = useDraft<{ note: string }>(
    `acknowledgement of ${alerts.length === 1 ? alerts[0]?.id : 'several alerts'}`,
  );
  const draft = kept ?? { note: '' };
  const [pacing, tell] = useState<PacingState>();
  const stop = useRef(false);
  useEffect(
    () => () => {
      stop.current = true;
    },
    [],
  );
  const acknowledge = useForm(draft, setDraft, async () => {
    const acked: Alert[] = [];
    const act = async (alert_id: string) => {
      const call = api.POST('/v1/alerts/{alert_id}/ack', {
        params: { path: { alert_id } },
        body: { note: draft.note.trim() || null },
      });
      acked.push(await answer(call));
      // A second try continues with the alerts that are left.
      left.current = left.current.filter((id) => id !== alert_id);
      return quotaOf((await call).response.headers);
    };
    const wait = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));
    await oneByOne(left.current, act, { tell, wait, stopped: () => stop.current }).finally(() => onAcked(acked));
    if (stop.current) return;
    setDraft(null);
    toast(alerts.length === 1 ? 'The alert is acknowledged.' : `${plural(alerts.length, 'alert')} are acknowledged.`);
    onClose();
  });
  return (
    <Dialog
      title={`Acknowledge ${alerts.length === 1 ? 'the alert' : plural(alerts.length, 'alert')}`}
      onClose={onClose}
    >
      <Form
        act={acknowledge}
        submit="Acknowledge"
        actions={
          <button type="button" class="button" onClick={onClose}>
            {acknowledge.busy ? 'Stop' : 'Cancel'}
          </button>
        }
      >
        <TextField
          label="Note"
          rows={3}
          maxLength={NOTE_LENGTH}
          hint="Tells others what was found. Optional."
          {...acknowledge.field('note')}
        />
        {pacing && alerts.length > 1 && <Progress pacing={pacing} />}
      </Form>
    </Dialog>
  );
}

const Progress = ({ pacing: { done, all, waits } }: { pacing: PacingState }) => (
  <div class="alerts-progress">
    <progress aria-label="Acknowledged alerts" max={all} value={done} />
    <p class="hint" role="status">
      {`${done} of ${all} acknowledged.`}
      {waits !== null && ` The rate limit asks to wait for ${plural(waits, 'second')}.`}
    </p>
  </div>
);
