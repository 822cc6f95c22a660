import type { Child } from 'hono/jsx';
import type { BoundedCount } from '../../db/query/newest-lists.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { Section } from '../look/sections.ts';
import type { PageContext } from '../page/page.ts';

/** A filter of a list; it stands in the address under its name. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'date' | 'choice';
  readonly choices?: readonly string[];
  /** Says what is wrong with a value, or null. The list then shows the sentence and no rows. */
  readonly problem?: (value: string) => string | null;
  /** It finds by what is hidden from viewers: whether anything is found would tell them. */
  readonly findsHidden?: boolean;
}

export interface Column<Row> {
  readonly header: string;
  readonly isNumber?: boolean;
  cell(row: Row, context: PageContext): Child;
  /** For the export. */
  text(row: Row, context: PageContext): string;
}

/** Rows after a cursor, which is opaque and stands in the address. `next` is null at the end. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
  /** So many rows were looked through, as one page may; the next page looks on from there. */
  readonly lookedThrough?: number;
}

/** How many rows a list counts: `1,000+` if there are more. */
export const COUNTED_MAX = 1_000;

/** A list: filters in the address, rows newest first unless it says otherwise, an export of what it shows, views that are kept. */
export interface List<Row> {
  readonly path: string;
  readonly title: string;
  /** One sentence under the title. */
  readonly question: string;
  readonly section: Section;
  readonly roles?: readonly Role[];
  readonly filters: readonly Filter[];
  readonly columns: readonly Column<Row>[];
  /** What an empty list means, in a sentence. */
  readonly empty: string;
  read(
    context: PageContext,
    filter: Readonly<Record<string, string>>,
    slice: { readonly after: string | null; readonly size: number },
  ): Promise<Slice<Row>>;
  readonly count?: (context: PageContext, filter: Readonly<Record<string, string>>) => Promise<BoundedCount>;
  /** Whether rows come and go while one looks. */
  readonly isLive?: boolean;
  /** Above the rows: charts, or remedies for all that is found. */
  readonly above?: (context: PageContext, filter: Readonly<Record<string, string>>) => Promise<Child>;
}
