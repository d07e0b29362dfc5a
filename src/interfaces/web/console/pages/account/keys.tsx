import { useState } from 'preact/hooks';
import { can, offers, whyNotYet } from '../../shared/account.js';
import { ActionButton } from '../../shared/action-button.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { confirmAct, Dialog, ShownOnce } from '../../shared/dialog.js';
import { Field, Form, SelectField, useForm } from '../../shared/form.js';
import { Panel } from '../../shared/frame.js';
import { Icon } from '../../shared/icon.js';
import { usePaged } from '../../shared/query.js';
import { SearchableTable } from '../../shared/searchable-table.js';
import { Empty, Loaded, Time } from '../../shared/states.js';
import { More } from '../../shared/table.js';
import { report, toast } from '../../shared/toasts.js';
import { limitFields, limitTexts, RestrictionFields, sentLimits, summaryOf, usePicked } from './key-restrictions.js';

type ApiKey = Schemas['ApiKey'];

const DAY_S = 86_400;
const LIFETIMES = [
  ['', 'No end'],
  [String(7 * DAY_S), '7 days'],
  [String(30 * DAY_S), '30 days'],
  [String(365 * DAY_S), '1 year'],
] as const;

export function Keys() {
  const [minting, setMinting] = useState(false);
  const [edited, setEdited] = useState<ApiKey | null>(null);
  const keys = usePaged('keys', async (cursor) => {
    const query = { limit: 100, ...(cursor && { cursor }) };
    const page = await answer(api.GET('/v1/keys', { params: { query } }));
    return { items: page.keys, next: page.next_cursor };
  });
  const revoke = async ({ id, name, hint }: ApiKey) => {
    const text = 'Programs that use it are refused at once. This cannot be undone.';
    if (!(await confirmAct({ title: `Revoke ${name ?? hint}?`, text, act: 'Revoke' }))) return;
    await report(answer(api.DELETE('/v1/keys/{key_id}', { params: { path: { key_id: id } } })), 'The key is revoked.');
    await keys.reload();
  };
  return (
    <Panel
      title="API keys"
      actions={
        offers('mint_keys') && (
          <ActionButton whyNot={whyNotYet('mint_keys')} onClick={() => setMinting(true)}>
            <Icon name="plus" /> New key
          </ActionButton>
        )
      }
    >
      <Loaded query={keys} what="your keys">
        {(items) =>
          items.length === 0 ? (
            <Empty icon="lock" title="You have no API key" />
          ) : (
            <SearchableTable
              label="API keys"
              name="key"
              of="keys"
              textOf={({ name, hint }) => `${name ?? ''} ${hint}`}
              rows={items}
              rowKey={({ id }) => id}
              columns={[
                {
                  title: 'Name',
                  sortBy: ({ name }) => name,
                  cell: ({ name }) => name ?? <span class="hint">made at a sign-in</span>,
                },
                { title: 'Key', cell: ({ hint }) => <code>{hint}</code> },
                {
                  title: 'Restricted to',
                  cell: (key) => summaryOf(key) ?? <span class="hint">nothing</span>,
                },
                {
                  title: 'Made',
                  sortBy: ({ created_at }) => created_at,
                  cell: ({ created_at }) => <Time at={created_at} />,
                  minor: true,
                },
                {
                  title: 'Last use',
                  sortBy: ({ last_used_at }) => last_used_at,
                  cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never'),
                },
                {
                  title: 'Ends',
                  sortBy: ({ expires_at }) => expires_at,
                  cell: ({ expires_at: at }) => (at ? <Time at={at} /> : 'never'),
                  minor: true,
                },
                {
                  title: 'Actions',
                  acts: true,
                  cell: (key) => (
                    <div class="actions">
                      {can('mint_keys') && (
                        <button type="button" class="button small" onClick={() => setEdited(key)}>
                          Change
                        </button>
                      )}
                      <button type="button" class="button small danger" onClick={() => void revoke(key)}>
                        Revoke
                      </button>
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={keys} />
      {minting && <MintDialog onClose={() => setMinting(false)} onMinted={() => void keys.reload()} />}
      {edited && <EditDialog apiKey={edited} onClose={() => setEdited(null)} onChanged={() => void keys.reload()} />}
    </Panel>
  );
}

function MintDialog({ onClose, onMinted }: { onClose: () => void; onMinted: () => void }) {
  const [values, setValues] = useState({ name: '', expires_in: '', ...limitTexts() });
  const picked = usePicked();
  const [key, setKey] = useState<string>();
  const mint = useForm(values, setValues, async () => {
    const about = { name: values.name.trim() || null, expires_in: Number(values.expires_in) || null };
    const body = { ...about, ...picked.sent, ...sentLimits(values) };
    setKey((await answer(api.POST('/v1/keys', { body }))).key);
    onMinted();
  });
  if (key) {
    return (
      <ShownOnce title="Your new API key" text={key} copy="Copy the key" onClose={onClose}>
        Copy it now: it is not shown again.
      </ShownOnce>
    );
  }
  return (
    <Dialog title="New API key" onClose={onClose}>
      <Form act={mint} submit="Make the key" onCancel={onClose}>
        <Field label="Name" hint="Says what uses it, such as “nightly evaluation”." {...mint.field('name')} />
        <SelectField label="It works for" options={LIFETIMES} {...mint.field('expires_in')} />
        <RestrictionFields picked={picked} limits={limitFields(mint.field)} />
      </Form>
    </Dialog>
  );
}

function EditDialog(props: { apiKey: ApiKey; onClose: () => void; onChanged: () => void }) {
  const { apiKey, onClose, onChanged } = props;
  const { id, version, name, hint } = apiKey;
  const [values, setValues] = useState({ name: name ?? '', ...limitTexts(apiKey) });
  const picked = usePicked(apiKey);
  const save = useForm(values, setValues, async () => {
    const { projects, permissions } = picked.sent;
    // Projects that are gone would be refused, so the list is sent only if the user has changed it.
    const isSame = JSON.stringify(projects) === JSON.stringify(apiKey.projects);
    const about = { name: values.name.trim() || null, permissions, ...(!isSame && { projects }) };
    const body = { version, ...about, ...sentLimits(values) };
    await answer(api.PATCH('/v1/keys/{key_id}', { params: { path: { key_id: id } }, body }));
    toast('The key is changed.');
    onChanged();
    onClose();
  });
  return (
    <Dialog title={`Change ${name ?? hint}`} onClose={onClose}>
      <Form act={save} submit="Save" onCancel={onClose}>
        <Field label="Name" {...save.field('name')} />
        <RestrictionFields picked={picked} limits={limitFields(save.field)} />
      </Form>
    </Dialog>
  );
}
