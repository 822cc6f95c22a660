import * as v from 'valibot';
import type { Problem } from '../../domain/common/errors.ts';
import { parseRatioPricing } from '../../domain/ledger/fees.ts';
import { problem } from '../http/requests/problems.ts';
import { type FieldConflict, fieldConflict, isSent, rejectConflicts, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { amount, boolean, currency, fields, optional, picklist, text } from '../http/schemas/schemas.ts';

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
  rejectConflicts(({ sourcingMethod, ...terms }) => {
    if (sourcingMethod !== 'implicit') return [];
    const sent = Object.entries(terms).filter(([, value]) => value !== undefined);
    const message = 'common.validation.field_unexpected: is allowed only with explicit pricing';
    return sent.map(([key, value]) => ({ path: [key], value, message }));
  }),
);

/** The terms of explicit pricing: `data.pricing`. */
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

/** Validates the terms, enabled or not. Their bounds are in the currency of the transfer. */
export function termsConflicts({ outgoingTransfer: transfer, pricing }: Sent): FieldConflict[] {
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
    return fieldConflict(found, ['pricing', field], value);
  });
}

/** Undefined for other types, which the schema rejects. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Terms are required with explicit pricing that is enabled, and not allowed otherwise. */
export function pricingContradictions(pricing: unknown, terms: unknown): Problem[] {
  const { sourcingMethod, enabled } = isSent(pricing) ? pricing : {};
  const isImplicit = pricing === undefined || sourcingMethod === 'implicit';
  const isExplicit = sourcingMethod === 'explicit' && enabled !== false;
  if (isImplicit && terms !== undefined) {
    return [
      problem('common.validation.field_invalid', ['data', 'pricing'], '', 'is allowed only with explicit pricing'),
    ];
  }
  if (isExplicit && terms === undefined) {
    const message = 'is required with explicit pricing that is enabled';
    return [problem('common.validation.field_required', ['data', 'pricing'], '', message)];
  }
  return [];
}
