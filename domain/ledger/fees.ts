import { DomainError, type Problem } from '../common/errors.ts';
import { type AmountProblem, isCurrency, parseAmountMinor } from '../common/money.ts';
import { INTERNAL_SCHEME } from '../providers/schemes.ts';

/** An exact fraction of an amount, between 0 and 1: 0.0025 is { numerator: 25n, denominator: 10000n }. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A ratio of the amount, with bounds, all in the transfer's currency (specification 2.9). */
export interface RatioPricing {
  readonly ratio: Ratio;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

const RATIO = /^(0|1)(?:\.(\d{1,10}))?$/;

/** Decimal text from 0 to 1 with at most ten decimals; null for anything else (`1e9`, `NaN`, `-1`, `1.5`). */
export function parseRatio(text: string): Ratio | null {
  const match = RATIO.exec(text);
  if (match === null) return null;
  const decimals = match[2] ?? '';
  const ratio = { numerator: BigInt(`${match[1]}${decimals}`), denominator: 10n ** BigInt(decimals.length) };
  return ratio.numerator <= ratio.denominator ? ratio : null;
}

/** Rounds half up to the minor unit, then applies the bounds. */
export function ratioFee(amountMinor: bigint, pricing: RatioPricing): bigint {
  const { numerator, denominator } = pricing.ratio;
  const fee = (2n * amountMinor * numerator + denominator) / (2n * denominator);
  if (pricing.minimumMinor !== null && fee < pricing.minimumMinor) return pricing.minimumMinor;
  if (pricing.maximumMinor !== null && fee > pricing.maximumMinor) return pricing.maximumMinor;
  return fee;
}

/** One row of the price table. A null selector matches everything. */
export interface Price {
  readonly direction: TransferDirection | null;
  /** `internal` for transfers without a scheme. */
  readonly scheme: string | null;
  /** Required with a fixed part or a bound, because these are amounts. */
  readonly currency: string | null;
  readonly fixedMinor: bigint;
  readonly pricing: RatioPricing | null;
}

export type TransferDirection = 'incoming' | 'outgoing';

/** The first match applies; without a match there is no fee. */
export type PriceTable = readonly Price[];

/** The fee by the configured table (`implicit`): fixed part plus ratio. Never more than an incoming transfer's amount. */
export function implicitFee(
  transfer: {
    readonly direction: TransferDirection;
    readonly scheme: string;
    readonly currency: string;
    readonly amountMinor: bigint;
  },
  table: PriceTable,
): bigint {
  const price = table.find(
    ({ direction, scheme, currency }) =>
      (direction === null || direction === transfer.direction) &&
      (scheme === null || scheme === transfer.scheme) &&
      (currency === null || currency === transfer.currency),
  );
  if (price === undefined) return 0n;
  const fee = price.fixedMinor + (price.pricing === null ? 0n : ratioFee(transfer.amountMinor, price.pricing));
  return transfer.direction === 'incoming' && fee > transfer.amountMinor ? transfer.amountMinor : fee;
}

/** `data.pricing` as sent; amounts are the digits of the JSON numbers. */
export interface RatioPricingRequest {
  readonly ratio: string;
  readonly boundaryCurrency?: string | null | undefined;
  readonly minimumAmount?: string | null | undefined;
  readonly maximumAmount?: string | null | undefined;
}

/**
 * The pricing that a caller sends with a transfer (`explicit`), or every problem with it. Bounds are optional; a bound
 * requires the boundary currency, which must be the transfer's.
 */
export function parseRatioPricing(
  request: RatioPricingRequest,
  currency: string,
): RatioPricing | readonly [Problem, ...Problem[]] {
  const problems: Problem[] = [];
  const ratio = parseRatio(request.ratio);
  if (ratio === null) problems.push(invalid('ratio', request.ratio, 'The ratio must be decimal text from 0 to 1.'));
  const minimumMinor = bound(request.minimumAmount, 'minimumAmount', currency, problems);
  const maximumMinor = bound(request.maximumAmount, 'maximumAmount', currency, problems);
  const boundaryCurrency = request.boundaryCurrency ?? null;
  if (boundaryCurrency === null && (minimumMinor !== null || maximumMinor !== null)) {
    problems.push({
      code: 'common.validation.field_required',
      message: 'The bounds of a fee require boundaryCurrency.',
      messageParameters: ['pricing', 'boundaryCurrency', ''],
    });
  } else if (boundaryCurrency !== null && isCurrency(currency) && boundaryCurrency !== currency) {
    problems.push(
      invalid('boundaryCurrency', boundaryCurrency, `The bounds must be in the transfer's currency, ${currency}.`),
    );
  }
  if (minimumMinor !== null && maximumMinor !== null && minimumMinor > maximumMinor) {
    problems.push(invalid('minimumAmount', request.minimumAmount ?? '', 'The minimum must not be above the maximum.'));
  }
  const [first, ...rest] = problems;
  if (first !== undefined) return [first, ...rest];
  return { ratio: ratio ?? { numerator: 0n, denominator: 1n }, minimumMinor, maximumMinor };
}

/** The requested pricing of an outgoing transfer, as sent: `workflow.pricing`, and its terms in `data.pricing`. */
export interface PricingRequest {
  readonly pricing?:
    | { readonly sourcingMethod: 'explicit' | 'implicit'; readonly enabled?: boolean | undefined }
    | undefined;
  readonly terms?: RatioPricingRequest | undefined;
}

/** The fee in minor units, by the caller's pricing or the configured table. The request's pricing has been checked. */
export function feeMinor(
  transfer: { readonly scheme?: string | undefined; readonly currency: string; readonly amountMinor: bigint },
  { pricing, terms }: PricingRequest,
  prices: PriceTable,
): bigint {
  const { currency, amountMinor } = transfer;
  if (pricing?.sourcingMethod !== 'explicit') {
    const scheme = transfer.scheme ?? INTERNAL_SCHEME;
    return implicitFee({ direction: 'outgoing', scheme, currency, amountMinor }, prices);
  }
  if (pricing.enabled === false) return 0n;
  if (terms === undefined) throw new Error('explicit pricing without terms has not been rejected');
  const parsed = parseRatioPricing(terms, currency);
  if ('ratio' in parsed) return ratioFee(amountMinor, parsed);
  throw new DomainError(parsed);
}

const BOUND_MESSAGES: Readonly<Record<AmountProblem, string>> = {
  'not-a-number': 'A bound must be a number.',
  'too-many-decimals': 'A bound must not have more decimals than its currency.',
  'too-large': 'A bound must be below 10^15 minor units.',
  'not-positive': 'A bound must not be negative.',
};

function bound(
  digits: string | null | undefined,
  field: 'minimumAmount' | 'maximumAmount',
  currency: string,
  problems: Problem[],
): bigint | null {
  // The transfer's own validation reports an unknown currency.
  if (digits === null || digits === undefined || !isCurrency(currency)) return null;
  const amount = parseAmountMinor(digits, currency, { positive: false });
  if (typeof amount === 'bigint' && amount >= 0n) return amount;
  problems.push(invalid(field, digits, BOUND_MESSAGES[typeof amount === 'bigint' ? 'not-positive' : amount]));
  return null;
}

function invalid(field: string, value: string, message: string): Problem {
  return { code: 'common.validation.field_invalid', message, messageParameters: ['pricing', field, value] };
}
