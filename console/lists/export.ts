import { csvLine, withoutFormulas } from '../../domain/common/texts/csv.ts';
import type { PageContext } from '../page/page.ts';
import type { List } from './list.ts';

/** What one export may hold; what is beyond it says so in its last line. */
export const EXPORT_ROWS_MAX = 10_000;
const ROWS_PER_READ = 500;

/** The list's rows as CSV, read and sent in parts. A viewer's export hides what the page hides. */
export function exportCsv<Row>(
  list: List<Row>,
  context: PageContext,
  filter: Readonly<Record<string, string>>,
): Response {
  const lines = linesOf(list, context, filter);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return();
    },
  });
  const name = `${list.path
    .split('/')
    .filter((part) => /^[a-z-]+$/.test(part))
    .join('-')}.csv`;
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    },
  });
}

async function* linesOf<Row>(
  list: List<Row>,
  context: PageContext,
  filter: Readonly<Record<string, string>>,
): AsyncGenerator<string, void, undefined> {
  yield csvLine(list.columns.map(({ header }) => header));
  let written = 0;
  for (let after: string | null = null; ; ) {
    const { rows, next }: { rows: readonly Row[]; next: string | null } = await list.read(context, filter, {
      after,
      size: Math.min(ROWS_PER_READ, EXPORT_ROWS_MAX - written),
    });
    yield rows.map((row) => csvLine(list.columns.map((column) => withoutFormulas(column.text(row, context))))).join('');
    written += rows.length;
    if (next === null) return;
    if (written >= EXPORT_ROWS_MAX) {
      yield csvLine([`Only the first ${EXPORT_ROWS_MAX} rows: narrow the filter for the rest.`]);
      return;
    }
    after = next;
  }
}
