import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { confirmAct, Dialog } from '../../shared/dialog.js';
import { Field, FormError, fieldError, SelectField, SubmitButton, useAction } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { usePaged } from '../../shared/query.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { More, Table } from '../../shared/table.js';
import { toast, toastError } from '../../shared/toasts.js';

type ApiKey = Schemas['ApiKey'];

const DAY_S = 86_400;
const LIFETIMES = [
  ['', 'No end'],
  [String(7 * DAY_S), '7 days'],
  [String(30 * DAY_S), '30 days'],
  [String(365 * DAY_S), '1 year'],
] as const;

/** Lists the account's API keys with their last use. */
export function Keys() {
  const [minting, setMinting] = useState(false);
  const keys = usePaged('keys', async (cursor) => {
    const query = { limit: 20, ...(cursor && { cursor }) };
    const page = await answer(api.GET('/v1/keys', { params: { query } }));
    return { items: page.keys, next: page.next_cursor };
  });
  const revoke = async ({ id, name, hint }: ApiKey) => {
    const text = 'Programs that use it are refused at once. This cannot be undone.';
    if (!(await confirmAct({ title: `Revoke ${name ?? hint}?`, text, act: 'Revoke' }))) return;
    try {
      await answer(api.DELETE('/v1/keys/{key_id}', { params: { path: { key_id: id } } }));
      toast('The key is revoked.');
    } catch (reason) {
      toastError(reason);
    }
    await keys.reload();
  };
  return (
    <Panel
      title="API keys"
      actions={
        can('mint_keys') && (
          <button type="button" class="button" onClick={() => setMinting(true)}>
            <Icon name="plus" /> New key
          </button>
        )
      }
    >
      <Loaded query={keys} what="your keys">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="lock" title="You have no API key" />
          ) : (
            <Table
              label="API keys"
              rows={items}
              rowKey={({ id }) => id}
              columns={[
                { title: 'Name', cell: ({ name }) => name ?? <span class="hint">made at a sign-in</span> },
                { title: 'Key', cell: ({ hint }) => <code>{hint}</code> },
                { title: 'Made', cell: ({ created_at }) => <Time at={created_at} />, minor: true },
                { title: 'Last use', cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never') },
                { title: 'Ends', cell: ({ expires_at: at }) => (at ? <Time at={at} /> : 'never'), minor: true },
                {
                  title: 'Actions',
                  acts: true,
                  cell: (key) => (
                    <button type="button" class="button small danger" onClick={() => void revoke(key)}>
                      Revoke
                    </button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={keys} />
      {minting && <MintDialog onClose={() => setMinting(false)} onMinted={() => void keys.reload()} />}
    </Panel>
  );
}

function MintDialog({ onClose, onMinted }: { onClose: () => void; onMinted: () => void }) {
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState('');
  const [key, setKey] = useState<string>();
  const mint = useAction(async () => {
    const body = { name: name.trim() || null, expires_in: lifetime ? Number(lifetime) : null };
    setKey((await answer(api.POST('/v1/keys', { body }))).key);
    onMinted();
  });
  if (key) {
    return (
      <Dialog title="Your new API key" onClose={onClose}>
        <p>Copy it now: it is not shown again.</p>
        <pre>{key}</pre>
        <div class="actions">
          <CopyButton text={key} label="Copy the key" />
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void mint.run();
        }}
      >
        <FormError error={mint.error} fields={['name', 'expires_in']} />
        <Field
          label="Name"
          hint="Says what uses it, such as “nightly evaluation”."
          value={name}
          error={fieldError(mint.error, 'name')}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <SelectField
          label="It works for"
          value={lifetime}
          options={LIFETIMES}
          error={fieldError(mint.error, 'expires_in')}
          onChange={(event) => setLifetime(event.currentTarget.value)}
        />
        <div class="actions">
          <SubmitButton busy={mint.busy}>Make the key</SubmitButton>
        </div>
      </form>
    </Dialog>
  );
}
