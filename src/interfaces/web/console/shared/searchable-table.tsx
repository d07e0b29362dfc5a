import { query, setQuery } from './router.js';
import { SearchField } from './search-field.js';
import { Empty } from './states.js';
import { Table, type TableProps } from './table.js';

/** A list with at most this many rows is read faster than it is searched. */
const FEW = 10;

/**
 * Draws the table of a whole list. Its rows can be sorted, and many of them can be searched by the text that `textOf`
 * returns. The parameters `name` and `name-sort` of the address keep both. `of` names what is listed, such as `keys`.
 */
export function SearchableTable<Row>(
  props: Omit<TableProps<Row>, 'sort'> & { name: string; of: string; textOf: (row: Row) => string },
) {
  const { name, of, textOf, rows, ...table } = props;
  const wanted = query.value.get(name)?.trim().toLowerCase() ?? '';
  const found = rows.filter((row) => textOf(row).toLowerCase().includes(wanted));
  return (
    <>
      {(rows.length > FEW || wanted !== '') && (
        <div class="filters">
          <SearchField name={name} label={`Search ${of}`} />
        </div>
      )}
      {found.length === 0 && wanted !== '' ? (
        <Empty icon="search" title={`None of the ${of} has this text`}>
          <button type="button" class="button" onClick={() => setQuery({ [name]: null })}>
            Show all {of}
          </button>
        </Empty>
      ) : (
        <Table {...table} rows={found} sort={`${name}-sort`} />
      )}
    </>
  );
}
