import { can } from '../../shared/account.js';
import { answer, api } from '../../shared/api.js';
import { Field, SelectField } from '../../shared/form.js';
import { useQuery } from '../../shared/query.js';
import { query, setQuery } from '../../shared/router.js';
import { keyName, useOwnKeys } from '../../shared/scope-names.js';
import { SearchField, searchText } from '../../shared/search-field.js';
import { secondsIn, TimeField } from '../../shared/time-field.js';
import type { Names } from './names.js';

const statuses = ['succeeded', 'failed', 'cancelled'] as const;
const ANY = ['', 'Any'] as const;
const SCORES = [ANY, ['1', 'Good'], ['0', 'Neutral'], ['-1', 'Bad']] as const;
/** The filters that are folded away, because most people search by the others. */
const FOLDED = ['since', 'until', 'model', 'key', 'account', 'label'] as const;
const ALL = [...FOLDED, 'q', 'status', 'score'] as const;

/** Returns the filters of the address, as the service takes them. */
export function filterIn() {
  const of = (name: (typeof ALL)[number]) => query.value.get(name) || undefined;
  const score = Number(of('score') ?? Number.NaN);
  const filter = {
    q: searchText(),
    status: statuses.find((status) => status === of('status')),
    score: Number.isFinite(score) ? score : undefined,
    since: secondsIn('since') ?? undefined,
    until: secondsIn('until') ?? undefined,
    model_id: of('model'),
    key_id: of('key'),
    account_id: of('account'),
    label: of('label'),
  };
  return { filter, isFiltered: Object.values(filter).some((value) => value !== undefined) };
}

export const clearFilters = () => setQuery(Object.fromEntries(ALL.map((name) => [name, null])));

/** Returns the options of a choice, with the chosen one also if it is not among them. */
function withChosen(name: string, options: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const chosen = query.value.get(name);
  const isListed = !chosen || options.some(([value]) => value === chosen);
  return [ANY, ...options.filter(([value]) => value !== ''), ...(isListed ? [] : [[chosen, chosen] as const])];
}

const choiceOf = (name: string, options: readonly (readonly [string, string])[]) => ({
  value: query.value.get(name) ?? '',
  options: withChosen(name, options),
  onChange: ({ currentTarget }: { currentTarget: HTMLSelectElement }) => setQuery({ [name]: currentTarget.value }),
});

/** Selects the calls of the list. The address keeps all filters. */
export function Filters({ names }: { names: Names }) {
  const keys = useOwnKeys();
  // Members see only their own calls.
  const seesAll = can('edit_workspace') && can('read_team');
  const team = useQuery(seesAll ? 'users' : null, () => answer(api.GET('/v1/auth/users')));
  const folded = FOLDED.filter((name) => query.value.get(name)).length;
  return (
    <div class="calls-filters">
      <div class="filters">
        <SearchField placeholder="Words of a prompt or an answer" label="Search the content" />
        <SelectField label="Status" {...choiceOf('status', [ANY, ...statuses.map((one) => [one, one] as const)])} />
        <SelectField label="Feedback" {...choiceOf('score', SCORES)} />
      </div>
      <details class="calls-more" open={folded > 0}>
        <summary>More filters{folded > 0 && ` (${folded} set)`}</summary>
        <div class="filters">
          <TimeField label="From" name="since" />
          <TimeField label="To" name="until" />
          <SelectField label="Model" {...choiceOf('model', names.models)} />
          <SelectField
            label="API key"
            {...choiceOf(
              'key',
              keys.map((key) => [key.id, keyName(key)] as const),
            )}
          />
          {seesAll && (
            <SelectField
              label="Who"
              {...choiceOf('account', team.data?.users.map(({ id, name }) => [id, name] as const) ?? [])}
            />
          )}
          <Field
            label="Label of the feedback"
            maxLength={64}
            value={query.value.get('label') ?? ''}
            onChange={(event) => setQuery({ label: event.currentTarget.value.trim() })}
          />
        </div>
      </details>
    </div>
  );
}
