import { normalRoutingCode } from '../../domain/accounts/bank-accounts.ts';
import { doublyClaimed } from '../../domain/beneficiaries/directories.ts';
import { DIRECTORIES } from '../../domain/beneficiaries/verifications.ts';
import { parseAmountMinor } from '../../domain/common/money.ts';
import { CURRENCY_CALENDAR, INTERNAL_SCHEME } from '../../domain/providers/schemes.ts';
import type { ConfigurationFile } from './schema.ts';

/** Internal transfer dates are UTC days, in the database too. */
const INTERNAL_ZONE = 'UTC';

/** Checks across values: undefined names, amounts against their currency, bounds against each other. */
export function checkReferences(file: ConfigurationFile): string[] {
  return [
    ...checkSchemes(file),
    ...checkCalendars(file),
    ...checkProviders(file),
    ...checkFileExchanges(file),
    ...checkDirectories(file),
    ...checkPrices(file),
    ...checkComplianceRules(file),
    ...checkRetention(file),
  ];
}

/** A delivery can be sent again only while its event exists. */
function checkRetention({ retention: { webhookDeliveriesDays, eventsDays } }: ConfigurationFile): string[] {
  if (eventsDays === null || eventsDays >= webhookDeliveriesDays) return [];
  return [`retention.eventsDays must be at least retention.webhookDeliveriesDays (is ${eventsDays})`];
}

function checkSchemes(file: ConfigurationFile): string[] {
  const problems: string[] = [];
  if (!Object.hasOwn(file.schemes, INTERNAL_SCHEME)) problems.push(`schemes.${INTERNAL_SCHEME} is missing`);
  const internalZone = file.schemes[INTERNAL_SCHEME]?.zone ?? INTERNAL_ZONE;
  if (internalZone !== INTERNAL_ZONE) {
    problems.push(`schemes.${INTERNAL_SCHEME}.zone must be ${INTERNAL_ZONE} (is "${internalZone}")`);
  }
  for (const [code, scheme] of Object.entries(file.schemes)) {
    const closes = scheme.cutOff !== null || Object.keys(scheme.cutOffByCurrency).length > 0;
    if (!closes && scheme.calendars.length > 0) {
      problems.push(`schemes.${code}.calendars must be empty, as the scheme never closes (cutOff is null)`);
    }
    for (const [currency, text] of Object.entries(scheme.amountLimits)) {
      const amount = parseAmountMinor(text, currency);
      if (typeof amount !== 'bigint')
        problems.push(`schemes.${code}.amountLimits.${currency} is ${amount} (is "${text}")`);
    }
    if (scheme.opensAt !== null && scheme.cutOff !== null && scheme.opensAt >= scheme.cutOff) {
      problems.push(`schemes.${code}.opensAt must be before cutOff (is "${scheme.opensAt}")`);
    }
  }
  return problems;
}

function checkCalendars(file: ConfigurationFile): string[] {
  const problems: string[] = [];
  const isKnown = (name: string) => Object.hasOwn(file.calendars, name);
  if (isKnown(CURRENCY_CALENDAR)) problems.push(`calendars.${CURRENCY_CALENDAR} is no name: schemes use the word`);
  for (const [code, { calendars }] of Object.entries(file.schemes)) {
    for (const [index, name] of calendars.entries()) {
      if (name === CURRENCY_CALENDAR || isKnown(name)) continue;
      problems.push(`schemes.${code}.calendars.${index} must be one of calendars, or currency (is "${name}")`);
    }
    if (calendars.length > 0 && calendars.every((name) => name === CURRENCY_CALENDAR)) {
      problems.push(`schemes.${code}.calendars must name one that all currencies follow, besides currency`);
    }
  }
  for (const [currency, name] of Object.entries(file.calendarByCurrency)) {
    if (!isKnown(name)) problems.push(`calendarByCurrency.${currency} must be one of calendars (is "${name}")`);
  }
  return problems;
}

/** A provider that is paid through by files needs a profile, an account that pays, and time for single payments to find company. */
function checkFileExchanges(file: ConfigurationFile): string[] {
  return Object.entries(file.providers).flatMap(([code, { method, iso20022, offers }]) => {
    if (iso20022 === undefined) return [];
    const path = `providers.${code}`;
    const isKnown = Object.hasOwn(file.bankProfiles, iso20022.profile);
    return [
      ...(method === 'built-in' ? [] : [`${path}.method must be built-in, as it has iso20022 (is "${method}")`]),
      ...(isKnown ? [] : [`${path}.iso20022.profile must be one of bankProfiles (is "${iso20022.profile}")`]),
      ...offers.flatMap(({ bank: of }, index) =>
        of?.pooledAccount ? [] : [`${path}.offers.${index}.bank.pooledAccount is missing: it is the account that pays`],
      ),
      ...(iso20022.files === 'per-window' && iso20022.windowSeconds === 0
        ? [`${path}.iso20022.windowSeconds must be at least 1 with files per-window (is 0)`]
        : []),
    ];
  });
}

function checkProviders(file: ConfigurationFile): string[] {
  const problems: string[] = [];
  for (const [code, provider] of Object.entries(file.providers)) {
    for (const [index, offer] of provider.offers.entries()) {
      const path = `providers.${code}.offers.${index}`;
      for (const scheme of offer.schemes) {
        const known = Object.hasOwn(file.schemes, scheme) && scheme !== INTERNAL_SCHEME;
        if (!known) problems.push(`${path}.schemes names ${scheme}, which is not among schemes`);
      }
      if (offer.countries !== '*' && !offer.countries.includes(offer.defaultCountry)) {
        problems.push(`${path}.defaultCountry must be one of its countries (is "${offer.defaultCountry}")`);
      }
      if (provider.method === 'built-in' && offer.bank === null) {
        problems.push(`${path}.bank is missing: built-in providers must say where to pay in`);
      }
      for (const [kind, value] of Object.entries(offer.bank?.routingCodes ?? {})) {
        if (normalRoutingCode(kind, value) !== value) {
          problems.push(`${path}.bank.routingCodes.${kind} has the wrong format (is "${value}")`);
        }
      }
    }
  }
  return problems;
}

function checkDirectories(file: ConfigurationFile): string[] {
  const unknown = DIRECTORIES.flatMap((code) => {
    const { defaultProvider } = file.directories[code];
    if (Object.hasOwn(file.providers, defaultProvider)) return [];
    return [`directories.${code}.defaultProvider must be one of providers (is "${defaultProvider}")`];
  });
  const doubled = doublyClaimed(file.directories).map((pair) => `directories: only one may have ${pair}`);
  return [...unknown, ...doubled];
}

function checkPrices(file: ConfigurationFile): string[] {
  const problems: string[] = [];
  for (const [index, price] of file.prices.entries()) {
    const path = `prices.${index}`;
    const amounts = Object.entries({ fixed: price.fixed, minimum: price.minimum, maximum: price.maximum });
    const minor: Record<string, bigint> = {};
    for (const [name, text] of amounts) {
      if (text === undefined) continue;
      if (price.currency === undefined) {
        problems.push(`${path}.${name} needs a currency`);
        continue;
      }
      const amount = parseAmountMinor(text, price.currency, { positive: false });
      if (typeof amount === 'bigint') minor[name] = amount;
      else problems.push(`${path}.${name} is ${amount} in ${price.currency} (is "${text}")`);
    }
    if (minor.minimum !== undefined && minor.maximum !== undefined && minor.minimum > minor.maximum) {
      problems.push(`${path}.minimum must not be above maximum (is "${price.minimum}")`);
    }
    if (price.ratio === undefined && (price.minimum !== undefined || price.maximum !== undefined)) {
      problems.push(`${path}.ratio is missing: bounds belong to a ratio`);
    }
    if (price.ratio === undefined && price.fixed === undefined) problems.push(`${path} must have fixed or ratio`);
    if (price.scheme !== undefined && !Object.hasOwn(file.schemes, price.scheme)) {
      problems.push(`${path}.scheme must be one of schemes (is "${price.scheme}")`);
    }
  }
  return problems;
}

/** A rule that could never stop anything is a mistake, and the rule of a stop is known by its name. */
function checkComplianceRules(file: ConfigurationFile): string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, rule] of file.compliance.rules.entries()) {
    const path = `compliance.rules.${index}`;
    const named = `(rule "${rule.name}")`;
    if (names.has(rule.name)) problems.push(`${path}.name must differ from the names of earlier rules ${named}`);
    names.add(rule.name);
    if (rule.kind === 'country' || rule.kind === 'name') continue;
    const limits = Object.entries(rule.amounts);
    for (const [currency, text] of limits) {
      const amount = parseAmountMinor(text, currency);
      if (typeof amount !== 'bigint') problems.push(`${path}.amounts.${currency} is ${amount} (is "${text}") ${named}`);
    }
    if (rule.kind === 'amount' && limits.length === 0) problems.push(`${path}.amounts must have a currency ${named}`);
    if (rule.kind === 'velocity' && limits.length === 0 && rule.count === undefined) {
      problems.push(`${path} must have count or amounts ${named}`);
    }
  }
  return problems;
}
