import * as v from 'valibot';
import { isIban } from '../../domain/accounts/identifiers/ibans.ts';
import { isCurrency } from '../../domain/common/money.ts';
import { isCountry } from '../../domain/common/parties/countries.ts';
import { checkText } from '../../domain/common/parties/names.ts';
import { isLocalTime, isZone } from '../../domain/common/time/zones.ts';
import { NAME_THRESHOLD, parseWindow, RULE_KINDS, RULE_STOPS } from '../../domain/compliance/rules.ts';
import { parseRatio } from '../../domain/ledger/fees.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { COMPLIANCE_MODES, parseAuthorizationRule } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { BANK_ACCOUNT_IDENTIFIERS } from '../../domain/providers/schemes.ts';
import { fileExchange } from './file-exchange.ts';

/** The schema of the configuration file. Amounts are decimal text, never floats. */
const code = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and dashes'));
const text = v.pipe(
  v.string('must be text'),
  v.check((value) => typeof checkText(value, 200) !== 'string', 'must be plain text'),
);
const currency = v.pipe(v.string(), v.check(isCurrency, 'must be an active ISO 4217 code'));
const country = v.pipe(v.string(), v.check(isCountry, 'must be an ISO 3166-1 alpha-2 code'));
const zone = v.pipe(v.string(), v.check(isZone, 'must be an IANA time zone, such as Europe/London'));
const time = v.pipe(v.string('must be text, hh:mm'), v.check(isLocalTime, 'must be a time of day, hh:mm'));
const amount = v.pipe(
  v.string('must be decimal text in quotes'),
  v.regex(/^(0|[1-9]\d{0,14})(\.\d{1,4})?$/, 'must be decimal text, such as "1000000" or "0.35"'),
);
const ratio = v.pipe(
  v.string(),
  v.check((value) => parseRatio(value) !== null, 'must be decimal text from 0 to 1'),
);
const authorizationRule = v.pipe(
  v.string(),
  v.check((value) => parseAuthorizationRule(value) !== null, 'must be "never", "always" or an amount as decimal text'),
);
const complianceMode = v.picklist(COMPLIANCE_MODES, `must be one of ${COMPLIANCE_MODES.join(', ')}`);
const every = v.literal('*', 'must be a list, or "*" for all');

function whole(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(minimum, message), v.maxValue(maximum, message));
}

const bankFields = { name: text, address: text, country, routingCodes: v.record(code, v.string()) };

const accountFields = {
  accountNumber: v.optional(v.nullable(v.pipe(text, v.maxLength(34, 'must have at most 34 characters'))), null),
  iban: v.optional(v.nullable(v.pipe(v.string(), v.check(isIban, 'must be an IBAN without spaces'))), null),
};

const intermediary = v.strictObject({ ...bankFields, ...accountFields });

const pooledAccount = v.pipe(
  v.strictObject({ accountHolderName: text, ...accountFields }),
  v.check(
    ({ accountNumber, iban }) => accountNumber !== null || iban !== null,
    'must have an accountNumber or an iban',
  ),
);

const bank = v.strictObject({
  ...bankFields,
  intermediary: v.optional(v.nullable(intermediary), null),
  pooledAccount: v.optional(v.nullable(pooledAccount), null),
});

const offer = v.strictObject({
  currencies: v.union([every, v.array(currency)]),
  countries: v.union([every, v.array(country)]),
  defaultCountry: country,
  schemes: v.array(code),
  bank: v.nullable(bank),
});

const scheme = v.strictObject({
  zone,
  currencies: v.optional(v.array(currency)),
  destinationCountries: v.optional(v.array(country)),
  cutOff: v.nullable(time),
  accountsNamedBy: v.optional(v.nullable(v.picklist(BANK_ACCOUNT_IDENTIFIERS, 'must be iban, bic or sort-code')), null),
  cutOffByCurrency: v.optional(v.record(currency, time), {}),
  opensAt: v.optional(v.nullable(time), null),
  calendars: v.array(code),
  amountLimits: v.optional(v.record(currency, amount), {}),
});

const directory = v.strictObject({
  defaultProvider: code,
  timeoutMs: whole(100, 30_000),
  currency,
  countries: v.array(country),
});

const price = v.strictObject({
  direction: v.optional(v.picklist(['incoming', 'outgoing'], 'must be incoming or outgoing')),
  scheme: v.optional(code),
  currency: v.optional(currency),
  fixed: v.optional(amount),
  ratio: v.optional(ratio),
  minimum: v.optional(amount),
  maximum: v.optional(amount),
});

const reviews = v.strictObject({ mode: complianceMode, byCurrency: v.record(currency, complianceMode) });

const limits = v.record(currency, amount);

/** What every rule of a built-in review has. */
const anyRule = {
  name: code,
  direction: v.picklist(['incoming', 'outgoing', 'both'], 'must be incoming, outgoing or both'),
  stop: v.picklist(RULE_STOPS, `must be ${RULE_STOPS.join(' or ')}`),
};

const thresholdMessage = 'must be from 0.5 to 1';

const complianceRule = v.variant(
  'kind',
  [
    v.strictObject({ ...anyRule, kind: v.literal('amount'), amounts: limits }),
    v.strictObject({
      ...anyRule,
      kind: v.literal('velocity'),
      window: v.pipe(
        v.string(),
        v.check(
          (value) => parseWindow(value) !== null,
          'must be an ISO 8601 duration of at most 366 days, such as P1D',
        ),
      ),
      count: v.optional(whole(1, 1_000_000)),
      amounts: v.optional(limits, {}),
    }),
    v.strictObject({
      ...anyRule,
      kind: v.literal('country'),
      countries: v.pipe(v.array(country), v.minLength(1, 'must name a country')),
    }),
    v.strictObject({
      ...anyRule,
      kind: v.literal('name'),
      file: v.pipe(
        v.string('must be the path of a list of names'),
        v.minLength(1, 'must be the path of a list of names'),
      ),
      threshold: v.optional(
        v.pipe(v.number(thresholdMessage), v.minValue(0.5, thresholdMessage), v.maxValue(1, thresholdMessage)),
        NAME_THRESHOLD,
      ),
    }),
  ],
  `must be one of ${RULE_KINDS.join(', ')}`,
);

export const configurationFile = v.strictObject({
  audience: v.nullable(text),
  providers: v.record(
    code,
    v.strictObject({
      method: v.picklist(['built-in', 'plug-in'], 'must be built-in or plug-in'),
      offers: v.pipe(v.array(offer), v.minLength(1, 'must have an offer')),
      iso20022: v.optional(fileExchange),
    }),
  ),
  directories: v.strictObject({ 'pay-uk': directory, 'eu-vop': directory }),
  migrations: v.strictObject({ timeoutMs: whole(100, 30_000) }),
  modulusCheck: v.nullable(
    v.strictObject({
      weightsFile: v.string('must be the path of a file like valacdos.txt'),
      substitutionsFile: v.string('must be the path of a file like scsubtab.txt'),
      onFailure: v.picklist(['reject', 'warn'], 'must be reject or warn'),
    }),
  ),
  schemes: v.record(code, scheme),
  calendars: v.record(code, v.string('must be the path of a calendar file')),
  bankProfiles: v.record(code, v.string('must be the path of a bank’s profile')),
  calendarByCurrency: v.record(currency, code),
  prices: v.array(price),
  rollLimit: whole(0, 365),
  retryLimit: whole(0, 100),
  retryPauseSeconds: whole(1, 7 * 24 * 3600),
  releasesPerSecond: whole(1, 10_000),
  transferDateYearsMax: whole(1, 10),
  compliance: v.strictObject({ incoming: reviews, outgoing: reviews, rules: v.array(complianceRule) }),
  authorization: v.strictObject({ rule: authorizationRule, byCurrency: v.record(currency, authorizationRule) }),
  tradeNames: v.array(text),
  feeSweepTime: time,
  retention: v.strictObject({
    idempotencyKeysDays: whole(1, 3_650),
    webhookDeliveriesDays: whole(7, 3_650),
    eventsDays: v.nullable(whole(30, 36_500)),
  }),
  rateLimit: v.strictObject({ requestsPerSecond: v.nullable(whole(1, 100_000)) }),
  bodyLimitBytes: whole(1024, 16 * 1024 * 1024),
  connections: v.strictObject({
    withoutTokenPerAddress: v.nullable(whole(16, 8_192)),
    bodySeconds: whole(1, 30),
  }),
  openBanking: v.strictObject({ allowLoopbackRedirects: v.boolean('must be true or false') }),
  webhooks: v.strictObject({
    attemptDelaysSeconds: v.pipe(v.array(whole(0, 7 * 24 * 3600)), v.minLength(1, 'must have an attempt')),
    jitterRatio: v.pipe(v.number(), v.minValue(0, 'must be from 0 to 1'), v.maxValue(1, 'must be from 0 to 1')),
    timeoutMs: whole(100, 60_000),
    disableAfterHours: whole(1, 24 * 365),
    allowLoopback: v.boolean('must be true or false'),
    allowPlainHttp: v.boolean('must be true or false'),
    allowPrivate: v.boolean('must be true or false'),
  }),
  console: v.strictObject({
    scope: v.pipe(
      v.string('must be text'),
      v.regex(/^openid( [!#-[\]-~]+)*$/, 'must begin with openid, with spaces between'),
    ),
    rolesClaim: text,
    roles: v.record(text, v.picklist(ROLES, `must be one of ${ROLES.join(', ')}`)),
    sessionMinutes: whole(5, 24 * 60),
    recentSignInMinutes: whole(1, 24 * 60),
    remediesOff: v.union([v.literal('all'), v.array(code)], 'must be a list of kinds, or "all"'),
  }),
  pools: v.strictObject({
    apiDatabaseConnections: whole(1, 500),
    apiListConnections: whole(1, 500),
    workerDatabaseConnections: whole(1, 500),
    cachedWorkflows: whole(1, 100_000),
    workflowTasks: whole(2, 1000),
    providerActivities: whole(1, 1000),
    webhookActivities: whole(1, 1000),
  }),
});

export type ConfigurationFile = v.InferOutput<typeof configurationFile>;

const WARNING_MONTHS = 12;

/** One calendar; docs/runbook/calendars.md says how to update it. calendarProblems checks the dates. */
export const calendarFile = v.strictObject({
  source: text,
  from: v.string('must be a date in quotes'),
  publishedUntil: v.string('must be a date in quotes'),
  until: v.string('must be a date in quotes'),
  warningMonths: v.optional(whole(1, 24), WARNING_MONTHS),
  closedDates: v.array(v.strictObject({ date: v.string('must be a date in quotes'), name: text })),
});

/** One line per invalid value: `schemes.chaps.cutOff must be a time of day, hh:mm (is "25:00")`. */
export function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string[] {
  return issues.map((issue) => {
    const path = v.getDotPath(issue) ?? '';
    if (issue.type === 'strict_object' && issue.expected === 'never')
      return `${path} is no setting${complianceRuleOf(issue)}`;
    if (issue.received === 'undefined') return `${path} is missing${complianceRuleOf(issue)}`;
    const rule = issue.message.startsWith('must') ? issue.message : `must be ${issue.expected ?? 'valid'}`;
    return `${path} ${rule} (is ${issue.received})${complianceRuleOf(issue)}`;
  });
}

/** Operators know rules by their names better than by their positions. */
function complianceRuleOf({ path }: v.BaseIssue<unknown>): string {
  const [section, list, item] = path ?? [];
  if (section?.key !== 'compliance' || list?.key !== 'rules') return '';
  const { name } = v.parse(v.fallback(v.object({ name: v.nullable(v.string()) }), { name: null }), item?.value);
  return name === null ? '' : ` (rule "${name}")`;
}
