import { Temporal } from '@js-temporal/polyfill';

/** Built-in screening of transfers: what each rule stops, and which rule a stop names. */
export const RULE_KINDS = ['amount', 'velocity', 'country', 'name'] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

export const RULE_STOPS = ['soft-stop', 'hard-stop'] as const;
export type RuleStop = (typeof RULE_STOPS)[number];

/** Names of at least this similarity count as the same, unless a rule sets another threshold. */
export const NAME_THRESHOLD = 0.85;

export const DIRECTIONS = ['incoming', 'outgoing'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** Limits in minor units, by currency. A currency without one has no limit. */
export type LimitsMinor = Readonly<Record<string, bigint>>;

interface CommonRule {
  readonly name: string;
  readonly directions: readonly Direction[];
  readonly stop: RuleStop;
}

/** Stops a transfer of this amount or more. */
export interface AmountRule extends CommonRule {
  readonly kind: 'amount';
  readonly fromMinor: LimitsMinor;
}

/**
 * Stops the transfer with which its account reaches this many transfers, or this sum, within the window; the transfer
 * itself counts.
 */
export interface VelocityRule extends CommonRule {
  readonly kind: 'velocity';
  readonly windowMs: number;
  readonly fromCount: number | null;
  readonly fromSumMinor: LimitsMinor;
}

/** Stops a transfer if one of the other party's countries is listed. */
export interface CountryRule extends CommonRule {
  readonly kind: 'country';
  readonly countries: ReadonlySet<string>;
}

/** Stops a transfer if one of the other party's names is about as similar to a listed one as the threshold, or more. */
export interface NameRule extends CommonRule {
  readonly kind: 'name';
  readonly file: string;
  readonly threshold: number;
}

export type ComplianceRule = AmountRule | VelocityRule | CountryRule | NameRule;

/** The facts of a transfer that rules examine. */
export interface ReviewedTransfer {
  readonly direction: Direction;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly counterpartyCountries: readonly string[];
  readonly counterpartyNames: readonly string[];
}

/** The transfers of an account within a window. */
export interface AccountActivity {
  readonly count: number;
  readonly sumMinor: bigint;
}

/** Facts looked up for single rules, by the rule's name. */
export interface Findings {
  readonly activity: ReadonlyMap<string, AccountActivity>;
  /** Whether a listed name is similar enough. */
  readonly isListed: ReadonlyMap<string, boolean>;
}

export interface ScreeningResult {
  readonly result: 'all-passed' | RuleStop;
  /** The rule that stopped the transfer. */
  readonly rule: { readonly name: string; readonly kind: RuleKind } | null;
}

export function rulesOf(rules: readonly ComplianceRule[], direction: Direction): ComplianceRule[] {
  return rules.filter(({ directions }) => directions.includes(direction));
}

/**
 * The severest stop, and the first configured rule that demands it. Throws without a finding that a rule needs: no transfer
 * may pass a rule that was not applied.
 */
export function screen(
  rules: readonly ComplianceRule[],
  transfer: ReviewedTransfer,
  findings: Findings,
): ScreeningResult {
  const stopping = rulesOf(rules, transfer.direction).filter((rule) => stops(rule, transfer, findings));
  const severest = stopping.find(({ stop }) => stop === 'hard-stop') ?? stopping[0];
  if (severest === undefined) return { result: 'all-passed', rule: null };
  return { result: severest.stop, rule: { name: severest.name, kind: severest.kind } };
}

function stops(rule: ComplianceRule, transfer: ReviewedTransfer, { activity, isListed }: Findings): boolean {
  switch (rule.kind) {
    case 'amount':
      return reaches(transfer.amountMinor, rule.fromMinor, transfer.currency);
    case 'velocity': {
      const { count, sumMinor } = found(activity, rule);
      if (rule.fromCount !== null && count >= rule.fromCount) return true;
      return reaches(sumMinor, rule.fromSumMinor, transfer.currency);
    }
    case 'country':
      return transfer.counterpartyCountries.some((country) => rule.countries.has(country));
    case 'name':
      return found(isListed, rule);
  }
}

function reaches(amountMinor: bigint, limits: LimitsMinor, currency: string): boolean {
  const limit = Object.hasOwn(limits, currency) ? limits[currency] : undefined;
  return limit !== undefined && amountMinor >= limit;
}

function found<Finding>(findings: ReadonlyMap<string, Finding>, { name }: ComplianceRule): Finding {
  const finding = findings.get(name);
  if (finding === undefined) throw new Error(`the rule ${name} has not been looked up`);
  return finding;
}

const WINDOW_DAYS_MAX = 366;
const DAY_MS = 24 * 3_600_000;

/** An ISO 8601 duration of weeks, days of 24 hours, hours and minutes, in milliseconds; null for any other text. */
export function parseWindow(text: string): number | null {
  if (!/^P(\d{1,3}W)?(\d{1,3}D)?(T(?=\d)(\d{1,4}H)?(\d{1,5}M)?)?$/.test(text) || text === 'P') return null;
  const windowMs = Temporal.Duration.from(text).total({ unit: 'milliseconds', relativeTo: '2000-01-01T00:00Z[UTC]' });
  return windowMs > 0 && windowMs <= WINDOW_DAYS_MAX * DAY_MS ? windowMs : null;
}
