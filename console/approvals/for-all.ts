import { createRemedyList } from '../../db/approvals/remedy-lists.ts';
import type { AuditedResource } from '../../db/common/audit-entries.ts';
import { type FrozenItem, REMEDY_LIST_ITEMS_MAX, sumsOf } from '../../domain/approvals/remedy-lists.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { Filter } from '../lists/list.ts';
import { problemsOf, queryOf, readFilter } from '../lists/list-page.tsx';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import type { Remedy } from '../remedies/remedy.ts';
import { offReason } from '../remedies/remedy-pages.tsx';
import { findRemedyForMany, MAKERS, MAX_IN_WORDS, type RemedyForMany, signersOf } from './many.ts';

/** A list whose filter can be frozen. */
export interface Source {
  /** The list's path. */
  readonly page: string;
  readonly kind: string;
  readonly filters: readonly Filter[];
  /** The kinds of resources that it lists. */
  readonly resources: readonly AuditedResource[];
  /** Those of one kind that the filter finds. */
  find(
    context: PageContext,
    filter: Readonly<Record<string, string>>,
    of: { readonly resource: AuditedResource; readonly limit: number },
  ): Promise<readonly FrozenItem[]>;
}

type Found =
  | { readonly remedy: RemedyForMany; readonly filter: string; readonly items: readonly FrozenItem[] }
  | { readonly remedy: RemedyForMany; readonly unavailable: string };

/** The remedy, and all that the list's filter finds; null if the address names no remedy. */
async function findAll(source: Source, context: PageContext): Promise<Found | null> {
  const remedy = findRemedyForMany(context.query.get('remedy'));
  if (remedy === null || !source.resources.includes(remedy.resource)) return null;
  const off = offReason(remedy, context);
  if (off !== null) return { remedy, unavailable: off };
  const filter = readFilter(source.filters, context.query);
  const [problem] = problemsOf(source.filters, filter, context.privacy);
  if (problem !== undefined) return { remedy, unavailable: problem };
  const items = await source.find(context, filter, { resource: remedy.resource, limit: REMEDY_LIST_ITEMS_MAX + 1 });
  if (items.length === 0) return { remedy, unavailable: 'The filter finds nothing that this could be done for.' };
  if (items.length > REMEDY_LIST_ITEMS_MAX) {
    return { remedy, unavailable: `More than ${MAX_IN_WORDS} are found, the most of one list: narrow the filter.` };
  }
  const query = queryOf(filter);
  return { remedy, filter: query === '' ? source.page : `${source.page}?${query}`, items };
}

/** The same act for all that a list's filter finds: frozen here, signed by another person, then done one by one. */
export function forAll(source: Source): Remedy {
  return {
    kind: source.kind,
    label: 'Freeze the list',
    resource: 'remedy-list',
    page: source.page,
    roles: MAKERS,
    movesMoney: true,
    isDangerous: true,
    async preview(context) {
      const found = await findAll(source, context);
      if (found === null) return null;
      const title = `${found.remedy.label}, for all that are found`;
      if ('unavailable' in found) return { title, consequences: [], unavailable: found.unavailable };
      const { remedy, items } = found;
      return { title, consequences: await consequencesOf(remedy, items, context) };
    },
    async act(context, _, initiator) {
      const found = await findAll(source, context);
      if (found === null || 'unavailable' in found) {
        const message = found === null ? 'No remedy is named.' : found.unavailable;
        throw rejection('common.state.illegal_transition', ['remedyList', 'remedy', source.kind], message);
      }
      const { remedy, filter, items } = found;
      const { role, reason = '' } = initiator;
      if (role === undefined) throw new Error('a remedy is done by a role');
      const frozen = { remedy: remedy.kind, resource: remedy.resource, filter, items };
      const id = await context.services.database.transaction((tx) =>
        createRemedyList(tx, frozen, { ...initiator, role, reason }),
      );
      return {
        state: 'done',
        text: `${items.length} are frozen as a list. Nothing is done to them until another person has signed it.`,
        goTo: `/remedy-lists/${id}`,
      };
    },
  };
}

async function consequencesOf(
  remedy: RemedyForMany,
  items: readonly FrozenItem[],
  context: PageContext,
): Promise<readonly string[]> {
  const sums = [...sumsOf(items)].map(([currency, sum]) => amountText(sum, currency));
  const [first] = items;
  const preview = first === undefined ? null : await remedy.preview({ ...context, params: { id: first.id } });
  return [
    `${items.length.toLocaleString('en-GB')} transfers are found, together ${sums.join(' and ')}. What is found when you press the button is frozen.`,
    `Nothing is done yet: another person, with the role ${signersOf(remedy).join(' or ')}, has to sign the list within 24 hours.`,
    'Then each is done by the rules of the single act, with your reason. One that is rejected stops no other.',
    ...(preview === null || first === undefined
      ? []
      : [`The first of them, ${first.transactionNumber}: ${preview.unavailable ?? preview.consequences.join(' ')}`]),
  ];
}
