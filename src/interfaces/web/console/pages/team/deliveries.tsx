import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Dialog } from '../../shared/dialog.js';
import { FormError, useAction } from '../../shared/form.js';
import { link } from '../../shared/router.js';
import { Empty, Time } from '../../shared/states.js';
import { Table } from '../../shared/table.js';
import { toast } from '../../shared/toasts.js';

type Webhook = Schemas['Webhook'];
type Delivery = Webhook['deliveries'][number];

/** Returns the outcome of a delivery in words. */
export const outcomeOf = ({ status, error }: Pick<Delivery, 'status' | 'error'>): string =>
  error ?? `delivered (${status})`;

/** Lists the last attempts of a webhook. The user can send an alert again. */
export function Deliveries(props: { webhook: Webhook; onSent: () => Promise<void>; onClose: () => void }) {
  const { webhook, onSent, onClose } = props;
  const sending = useAction(async ({ alert_id }: Delivery) => {
    const params = { path: { webhook_id: webhook.id } };
    const sent = await answer(api.POST('/v1/alerts/webhooks/{webhook_id}/deliveries', { params, body: { alert_id } }));
    toast(`Sent again: ${outcomeOf(sent)}.`);
    await onSent();
  });
  return (
    <Dialog title="Deliveries" onClose={onClose} wide>
      <FormError error={sending.error} />
      {webhook.deliveries.length === 0 ? (
        <Empty icon="link" title="No alert was posted to it yet" />
      ) : (
        <Table
          label="Deliveries"
          rows={webhook.deliveries}
          rowKey={({ alert_id, at }) => `${alert_id} ${at}`}
          columns={[
            { title: 'Alert', cell: ({ alert_id }) => <a href={link(`/alerts/${alert_id}`)}>…{alert_id.slice(-6)}</a> },
            {
              title: 'Outcome',
              long: true,
              cell: (one) => <span class={one.error ? 'state bad' : 'state good'}>{outcomeOf(one)}</span>,
            },
            { title: 'When', cell: ({ at }) => <Time at={at} /> },
            ...(can('manage_monitoring')
              ? [
                  {
                    title: 'Actions',
                    acts: true,
                    cell: (one: Delivery) => (
                      <button
                        type="button"
                        class="button small"
                        disabled={sending.busy}
                        onClick={() => void sending.run(one)}
                      >
                        Send again
                      </button>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
    </Dialog>
  );
}
