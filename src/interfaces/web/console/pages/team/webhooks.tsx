import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct, Dialog, ShownOnce } from '../../shared/dialog.js';
import { Field, Form, useAction, useForm } from '../../shared/form.js';
import { plural } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { useQuery } from '../../shared/query.js';
import { SearchableTable } from '../../shared/searchable-table.js';
import { Empty, Loaded, State, Time } from '../../shared/states.js';
import { report } from '../../shared/toasts.js';
import { Deliveries, outcomeOf } from './deliveries.js';
import { TeamFrame } from './team-frame.js';

type Webhook = Schemas['Webhook'];

export function Webhooks() {
  const [creating, setCreating] = useState(false);
  const [opened, open] = useState<string | null>(null);
  const query = useQuery('webhooks', () => answer(api.GET('/v1/alerts/webhooks')));
  const remove = async (webhook: Webhook) => {
    const text = `No alert is posted to ${webhook.url || 'it'} from then on. Waiting alerts are dropped.`;
    if (!(await confirmAct({ title: 'Delete the webhook?', text, act: 'Delete' }))) return;
    await report(
      answer(api.DELETE('/v1/alerts/webhooks/{webhook_id}', { params: { path: { webhook_id: webhook.id } } })),
      'The webhook is deleted.',
    );
    await query.reload();
  };
  const shown = query.data?.webhooks.find(({ id }) => id === opened);
  const acts = (webhook: Webhook) => (
    <div class="actions">
      <TestButton webhook={webhook} />
      <button type="button" class="button small danger" onClick={() => void remove(webhook)}>
        Delete
      </button>
    </div>
  );
  return (
    <TeamFrame
      actions={
        can('manage_monitoring') && (
          <button type="button" class="button primary" onClick={() => setCreating(true)}>
            <Icon name="plus" /> Add a webhook
          </button>
        )
      }
    >
      <Panel title="Webhooks">
        <Loaded query={query} what="the webhooks">
          {({ webhooks }) =>
            webhooks.length === 0 ? (
              <Empty icon="link" title="Alerts are posted to no program yet">
                <p>A webhook posts each alert to a URL of yours, signed, as Standard Webhooks defines it.</p>
              </Empty>
            ) : (
              <SearchableTable
                label="Webhooks"
                name="q"
                of="webhooks"
                textOf={({ url }) => url ?? ''}
                rows={webhooks}
                rowKey={({ id }) => id}
                columns={[
                  {
                    title: 'URL',
                    sortBy: ({ url }) => url,
                    long: true,
                    cell: ({ url }) => (url ? <code>{url}</code> : 'no longer readable: delete it and add it again'),
                  },
                  {
                    title: 'State',
                    sortBy: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
                    cell: ({ enabled }) => <State of={enabled ? 'enabled' : 'disabled'} />,
                  },
                  { title: 'Last delivery', cell: lastDelivery, minor: true },
                  { title: 'Deliveries', cell: (webhook: Webhook) => <Open webhook={webhook} open={open} /> },
                  ...(can('manage_monitoring') ? [{ title: 'Actions', acts: true, cell: acts }] : []),
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
      {shown && <Deliveries webhook={shown} onSent={query.reload} onClose={() => open(null)} />}
      {creating && <CreateDialog onClose={() => setCreating(false)} onCreated={() => void query.reload()} />}
    </TeamFrame>
  );
}

const Open = ({ webhook: { id, deliveries }, open }: { webhook: Webhook; open: (id: string) => void }) => (
  <button type="button" class="button small" onClick={() => open(id)}>
    {plural(deliveries.length, 'delivery', 'deliveries')}
  </button>
);

function lastDelivery({ last_delivery: last }: Webhook) {
  if (!last) return 'none yet';
  return (
    <>
      {outcomeOf(last)}, <Time at={last.at} />
    </>
  );
}

function TestButton({ webhook }: { webhook: Webhook }) {
  const [outcome, setOutcome] = useState<Schemas['WebhookTest']>();
  const test = useAction(async () => {
    const params = { path: { webhook_id: webhook.id } };
    setOutcome(undefined);
    setOutcome(await answer(api.POST('/v1/alerts/webhooks/{webhook_id}/test', { params })));
  });
  return (
    <>
      <button type="button" class="button small" disabled={test.busy} onClick={() => void test.run()}>
        {test.busy ? 'Posting …' : 'Test'}
      </button>
      <span role="status" class={outcome?.error || test.error ? 'field-note error' : 'field-note'}>
        {test.error?.message ?? (outcome && (outcome.error ?? `The receiver answered ${outcome.status}.`))}
      </span>
    </>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [values, setValues] = useState({ url: '' });
  const [created, setCreated] = useState<Schemas['CreatedWebhook']>();
  const create = useForm(values, setValues, async () => {
    setCreated(await answer(api.POST('/v1/alerts/webhooks', { body: values })));
    onCreated();
  });
  if (created) {
    return (
      <ShownOnce title="The webhook is ready" text={created.secret} copy="Copy the secret" onClose={onClose}>
        Your program checks the signature of each post with this secret. It is shown only now.
      </ShownOnce>
    );
  }
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <Form act={create} submit="Add" onCancel={onClose}>
        <Field
          label="URL"
          type="url"
          required
          placeholder="https://hooks.example.com/tenon"
          hint="https, at a public address"
          {...create.field('url')}
        />
      </Form>
    </Dialog>
  );
}
