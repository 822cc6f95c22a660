import { formatAmountInFull, minorUnits, parseAmountMinor } from '../../domain/common/money.ts';
import { minuteInZone } from '../../domain/common/time/zones.ts';

/** How the console writes amounts, instants, ids and states: the same on every page. */

/** As the currency writes it: £1,234.50. Exact, as the decimals are text. */
export function amountText(amountMinor: bigint, currency: string): string {
  // The decimals are those of ISO 4217, which differ from Intl's for some currencies.
  const decimals = minorUnits(currency);
  const format = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  // Intl is exact only with text; its types take no text that is not a literal.
  const text = formatAmountInFull(amountMinor, currency) as Intl.StringNumericLiteral;
  return `${format.format(text)} ${currency}`;
}

/** An amount that db/ returns as the interface shows it: a JSON number's digits. */
export function amountOf({ amount, currency }: { readonly amount: unknown; readonly currency: string }): string {
  const minor = parseAmountMinor(String(amount), currency, { positive: false });
  if (typeof minor === 'string') throw new Error(`an amount of the database is ${minor}`);
  return amountText(minor, currency);
}

export function Amount({ minor, currency }: { readonly minor: bigint; readonly currency: string }) {
  return <span class="number">{amountText(minor, currency)}</span>;
}

/** In UTC to the second, and in the scheme's zone where there is one. */
export function Instant({ at, zone }: { readonly at: Date | null; readonly zone?: string | undefined }) {
  if (at === null) return <>–</>;
  const utc = at.toISOString();
  const local = zone === undefined || zone === 'UTC' ? null : `(${localMinute(at, zone)} ${zone})`;
  return (
    <time datetime={utc}>
      <span class="utc">
        {utc.slice(0, 10)} {utc.slice(11, 19)} UTC
      </span>
      {local === null ? null : <span class="zone"> {local}</span>}
    </time>
  );
}

/** The day only where it is another one than in UTC. */
function localMinute(at: Date, zone: string): string {
  const minute = minuteInZone(at, zone);
  const isSameDay = minute.startsWith(at.toISOString().slice(0, 10));
  return isSameDay ? minute.slice(11) : minute;
}

/** How long ago, in the largest unit that says enough: 45 s, 12 min, 3 h, 2 d. */
export function age(from: Date, to: Date): string {
  const seconds = Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

const TONES: Readonly<Record<string, 'good' | 'bad' | 'warn'>> = {
  active: 'good',
  completed: 'good',
  succeeded: 'good',
  done: 'good',
  matched: 'good',
  failed: 'bad',
  declined: 'bad',
  revoked: 'bad',
  open: 'bad',
  suspended: 'warn',
  'on-hold': 'warn',
  pending: 'warn',
  waiting: 'warn',
  disabled: 'bad',
};

export function Status({ of: status }: { readonly of: string }) {
  return <span class={`status ${TONES[status] ?? ''}`}>{status}</span>;
}

export function Id({ of: id, to }: { readonly of: string; readonly to?: string }) {
  return to === undefined ? (
    <span class="id">{id}</span>
  ) : (
    <a class="id" href={to}>
      {id}
    </a>
  );
}
