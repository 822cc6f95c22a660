import type { Problem } from '../../common/errors.ts';
import { isCurrency } from '../../common/money.ts';
import { checkText } from '../../common/parties/names.ts';
import { isDate } from '../../common/time/dates.ts';
import { TRADE_IN_GOODS, TRADE_IN_SERVICES } from './transfer-reasons.ts';

/** Extra data that banks require for some currencies (specification 4.9), as sent. */
export type SchemeAttributes = Readonly<Record<string, string>>;

interface Rule {
  readonly currency: string;
  readonly key: string;
  readonly required: boolean;
  /** Allowed only with a transfer reason of this code. */
  readonly reasonCode?: string;
  readonly rule: string;
  readonly holds: (value: string, context: Context) => boolean;
}

interface Context {
  readonly reasonCode: string | null;
  readonly tradeNames: readonly string[];
}

const required = true;

const RULES: readonly Rule[] = [
  {
    currency: 'KRW',
    key: 'sender-account-number',
    required,
    rule: '1 to 34 letters, digits or dashes',
    holds: (value) => /^[A-Za-z0-9-]{1,34}$/.test(value),
  },
  { currency: 'CNY', key: 'trade-order-id', required, rule: 'text of at most 32 characters', holds: text(32) },
  { currency: 'CNY', key: 'trade-time', required, rule: 'a date, dd/MM/yyyy', holds: isDayMonthYear },
  { currency: 'CNY', key: 'trade-currency', required, rule: 'an ISO 4217 currency code', holds: isCurrency },
  {
    currency: 'CNY',
    key: 'trade-amount',
    required,
    rule: 'an amount with two decimals',
    holds: (value) => /^(0|[1-9]\d{0,12})\.\d{2}$/.test(value),
  },
  {
    currency: 'CNY',
    key: 'trade-name',
    required,
    rule: 'text of at most 128 characters; for trade in services one of the configured list',
    holds: (value, { reasonCode, tradeNames }) =>
      text(128)(value) && (reasonCode !== TRADE_IN_SERVICES || tradeNames.includes(value)),
  },
  {
    currency: 'CNY',
    key: 'trade-count',
    required,
    rule: 'a whole number',
    holds: (value) => /^[1-9]\d{0,8}$/.test(value),
  },
  {
    currency: 'CNY',
    key: 'goods-carrier',
    required,
    reasonCode: TRADE_IN_GOODS,
    rule: 'text of at most 64 characters',
    holds: text(64),
  },
  {
    currency: 'CNY',
    key: 'service-detail',
    required,
    reasonCode: TRADE_IN_SERVICES,
    rule: 'text of at most 128 characters',
    holds: text(128),
  },
  {
    currency: 'CNY',
    key: 'service-time',
    required,
    reasonCode: TRADE_IN_SERVICES,
    rule: 'text of at most 64 characters',
    holds: text(64),
  },
  { currency: 'CNY', key: 'cnaps', required: false, rule: 'twelve digits', holds: (value) => /^\d{12}$/.test(value) },
];

/** Every problem with an external transfer's attributes. */
export function checkSchemeAttributes(
  attributes: SchemeAttributes,
  transfer: {
    readonly currency: string;
    /** The code of the transfer's reason; null without one. */
    readonly reasonCode: string | null;
    /** The service names configured for `trade-name`. */
    readonly tradeNames: readonly string[];
  },
): Problem[] {
  const rules = RULES.filter(
    ({ currency, reasonCode }) =>
      currency === transfer.currency && (reasonCode === undefined || reasonCode === transfer.reasonCode),
  );
  const problems: Problem[] = [];
  for (const rule of rules) {
    const value = Object.hasOwn(attributes, rule.key) ? attributes[rule.key] : undefined;
    if (value === undefined) {
      if (rule.required)
        problems.push(problem(rule.key, '', `${transfer.currency} transfers require ${rule.key}: ${rule.rule}.`));
    } else if (!rule.holds(value, transfer))
      problems.push(problem(rule.key, value, `${rule.key} must be ${rule.rule}.`));
  }
  for (const [key, value] of Object.entries(attributes)) {
    if (rules.some((rule) => rule.key === key)) continue;
    problems.push(
      problem(key.slice(0, 40), value, 'The attribute is not allowed for the currency and reason of the transfer.'),
    );
  }
  return problems;
}

function text(lengthMax: number): (value: string) => boolean {
  return (value) => typeof checkText(value, lengthMax) !== 'string';
}

function isDayMonthYear(value: string): boolean {
  const match = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(value);
  return match !== null && isDate(`${match[3]}-${match[2]}-${match[1]}`);
}

function problem(key: string, value: string, message: string): Problem {
  return {
    code: 'transfer.attribute.invalid',
    message,
    messageParameters: ['outgoingTransfer', `schemeAttributes.${key}`, value],
  };
}
