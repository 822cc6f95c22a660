import * as v from 'valibot';
import type { Problem } from '../../domain/frame/errors.ts';
import { parseRatioPricing } from '../../domain/ledger/fees.ts';
import { problem } from '../frame/requests/problems.ts';
import { crossCheck, type Disagreement, disagreement, isSent, type Sent } from '../frame/schemas/cross-checks.ts';
import { named } from '../frame/schemas/named.ts';
import { amount, boolean, currency, fields, optional, picklist, text } from '../frame/schemas/schemas.ts';

/** How a transfer is priced (specification 2.9): `workflow.pricing`. */
export const workflowPricing = v.pipe(
  named(
    'WorkflowPricing',
    fields({
      sourcingMethod: picklist(['explicit', 'implicit']),
      enabled: optional(boolean()),
      chargingType: optional(picklist(['fee'])),
      chargingMethod: optional(picklist(['on-source'])),
    }),
  ),
  crossCheck(({ sourcingMethod, ...terms }) => {
    if (sourcingMethod !== 'implicit') return [];
    const sent = Object.entries(terms).filter(([, value]) => value !== undefined);
    const message = 'common.validation.field_unexpected: belongs to explicit pricing';
    return sent.map(([key, value]) => ({ path: [key], value, message }));
  }),
);

/** Its terms: `data.pricing`. */
export const dataPricing = named(
  'Pricing',
  fields({
    type: picklist(['ratio']),
    ratio: text(20),
    boundaryCurrency: optional(currency()),
    minimumAmount: optional(amount()),
    maximumAmount: optional(amount()),
  }),
);

/** What is wrong with terms, enabled or not. Their bounds are in the currency of the transfer beside them. */
export function termsDisagreements({ outgoingTransfer: transfer, pricing }: Sent): Disagreement[] {
  if (!isSent(pricing)) return [];
  const terms = {
    ratio: textOf(pricing.ratio) ?? '0',
    boundaryCurrency: textOf(pricing.boundaryCurrency),
    minimumAmount: textOf(pricing.minimumAmount),
    maximumAmount: textOf(pricing.maximumAmount),
  };
  const parsed = parseRatioPricing(terms, (isSent(transfer) ? textOf(transfer.currency) : undefined) ?? '');
  if ('ratio' in parsed) return [];
  return parsed.map((found) => {
    const [, field, value] = found.messageParameters;
    return disagreement(found, ['pricing', field], value);
  });
}

/** What has another type is refused by the schema. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Whether there are terms where the pricing, as sent, has some, and nowhere else. */
export function pricingContradictions(pricing: unknown, terms: unknown): Problem[] {
  const { sourcingMethod, enabled } = isSent(pricing) ? pricing : {};
  const isImplicit = pricing === undefined || sourcingMethod === 'implicit';
  const isExplicit = sourcingMethod === 'explicit' && enabled !== false;
  if (isImplicit && terms !== undefined) {
    return [problem('common.validation.field_invalid', ['data', 'pricing'], '', 'belongs to explicit pricing')];
  }
  if (isExplicit && terms === undefined) {
    const message = 'is required with explicit pricing that is enabled';
    return [problem('common.validation.field_required', ['data', 'pricing'], '', message)];
  }
  return [];
}
