import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CURRENCIES } from '../domain/common/money.ts';
import { ruleFor } from '../domain/outgoing-transfers/requirement-rules.ts';
import { chooseOffer, depositSchemes, findOffer, outgoingSchemes } from '../domain/providers/providers.ts';
import { drawIdentifiers } from '../sandbox/bank/identifiers.ts';
import { FILES_OFFER } from '../test/harness/bank-files/offer.ts';
import { loadConfiguration, localConfigurationFiles, requiredAudience, separateAudience } from './configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));

function load(patch: unknown, env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, 'patch.json');
  writeFileSync(file, typeof patch === 'string' ? patch : JSON.stringify(patch));
  return loadConfiguration({ ...env, CONFIG_FILE: file });
}

function rejection(patch: unknown): string {
  try {
    load(patch);
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(`${join(folder, 'patch.json')}: `, '') : String(error);
  }
  return 'accepted';
}

const defaults = loadConfiguration({});
const sandboxBank = defaults.providers.find(({ code }) => code === 'sandbox-bank');
const customBank = defaults.providers.find(({ code }) => code === 'custom-bank');
if (sandboxBank === undefined || customBank === undefined) throw new Error('the default providers are missing');

describe('a service on one machine', () => {
  test('delivers to loopback over http, unless the operator says otherwise', () => {
    const local = loadConfiguration({ CONFIG_FILE: localConfigurationFiles({}) });
    expect(local.webhooks).toMatchObject({ allowLoopback: true, allowPlainHttp: true, allowPrivate: false });
    const file = join(folder, 'strict.json');
    writeFileSync(file, JSON.stringify({ rollLimit: 2, webhooks: { allowLoopback: false } }));
    const strict = loadConfiguration({ CONFIG_FILE: localConfigurationFiles({ CONFIG_FILE: file }) });
    expect(strict).toMatchObject({ rollLimit: 2, webhooks: { allowLoopback: false, allowPlainHttp: true } });
  });

  test('has a digest of each setting that decides about transfers, whatever the order of keys, and of no other', () => {
    const digests = (patch: unknown) => [...load(patch).transferRuleDigests];
    const same = { feeSweepTime: '03:00', calendarByCurrency: { GBP: 'gb' }, authorization: { rule: 'always' } };
    expect(digests(same)).toEqual([...defaults.transferRuleDigests]);
    const scheme = { zone: 'Europe/London', cutOff: '15:00', calendars: ['gb'] };
    const turned = { calendars: ['gb'], cutOff: '15:00', zone: 'Europe/London' };
    expect(digests({ schemes: { new: scheme } })).toEqual(digests({ schemes: { new: turned } }));
    for (const [name, patch] of [
      ['schemes', { schemes: { chaps: { cutOff: '12:34' } } }],
      ['rollLimit', { rollLimit: 1 }],
      ['retryLimit', { retryLimit: 1 }],
      ['retryPauseSeconds', { retryPauseSeconds: 1 }],
    ] as const) {
      const other = load(patch).transferRuleDigests;
      const differing = [...other].filter(([setting, digest]) => defaults.transferRuleDigests.get(setting) !== digest);
      expect(differing.map(([setting]) => setting)).toEqual([name]);
    }
  });

  test('lays the files of CONFIG_FILE over one another, the last on top, and names the last in a rejection', () => {
    const [below, above] = [join(folder, 'below.json'), join(folder, 'above.json')];
    writeFileSync(below, JSON.stringify({ rollLimit: 1, tradeNames: ['Below'] }));
    writeFileSync(above, JSON.stringify({ rollLimit: 2 }));
    const files = { CONFIG_FILE: `${below}${delimiter}${above}` };
    expect(loadConfiguration(files)).toMatchObject({ rollLimit: 2, tradeNames: ['Below'] });
    writeFileSync(above, JSON.stringify({ rollLimit: 'many' }));
    expect(() => loadConfiguration(files)).toThrow(`${above}: rollLimit must be a whole number`);
  });
});

describe('who sends files', () => {
  const rejectionOf = (party: object, pooledAccount: object = {}) => {
    const [offer] = [FILES_OFFER];
    const bank = { ...offer.bank, pooledAccount: { ...offer.bank.pooledAccount, ...pooledAccount } };
    const iso20022 = {
      profile: 'uk',
      party: { name: 'Clients Ltd', country: 'GB', ...party },
      transport: { kind: 'folder', out: '/out', in: '/in', archive: '/archive' },
    };
    const providers = { 'files-bank': { method: 'built-in', offers: [{ ...offer, bank }], iso20022 } };
    return () => load({ providers });
  };

  test('is one whose files the bank takes, or nothing starts: a name, an id and an account by the rules of its profile', () => {
    expect(rejectionOf({})).not.toThrow();
    expect(rejectionOf({ name: '株式会社' })).toThrow(
      'providers.files-bank.iso20022.party.name: The bank takes Latin, Greek and Cyrillic letters',
    );
    expect(rejectionOf({ id: 'A//B' })).toThrow('providers.files-bank.iso20022.party.id: A reference has letters');
    expect(rejectionOf({}, { accountNumber: null, iban: 'DE89370400440532013000' })).toThrow(
      /^providers\.files-bank\.offers\.0\.bank\.pooledAccount\.accountNumber: The bank needs .* in GBDSC\.$/,
    );
  });
});

describe('the audience', () => {
  test('is the one of the environment, else of the file; the API does not start without one', () => {
    expect(load({ audience: 'of-the-file' }).audience).toBe('of-the-file');
    expect(load({ audience: 'of-the-file' }, { AUDIENCE: ' of-the-environment ' }).audience).toBe('of-the-environment');
    expect(requiredAudience(load({ audience: 'of-the-file' }))).toBe('of-the-file');
    expect(() => requiredAudience(load({}, { AUDIENCE: ' ' }))).toThrow(/^AUDIENCE is not set\. Set it to [^\n]+$/);
    const checked = (audience: string) => separateAudience(load({ audience }), 'https://accounts.example');
    for (const same of [
      'https://accounts.example',
      'https://accounts.example/',
      'https://accounts.example/open-banking/GB/token',
    ])
      expect(() => checked(same)).toThrow('AUDIENCE is PUBLIC_URL or an address below it');
    expect(checked('https://accounts.example.org')).toBe('https://accounts.example.org');
    expect(() => load({}, { AUDIENCE: 'a\u0000b' })).toThrow('audience must be plain text');
  });
});

describe('the default file', () => {
  test('requires no review or authorization, limits no requests, charges nothing', () => {
    expect(defaults).toMatchObject({
      audience: null,
      prices: [],
      rollLimit: 5,
      rateLimit: { requestsPerSecond: null },
      bodyLimitBytes: 1_048_576,
      connections: { withoutTokenPerAddress: 1_024, bodySeconds: 20 },
    });
    for (const rules of [defaults.compliance.incoming, defaults.compliance.outgoing]) {
      expect(ruleFor(rules, 'EUR')).toBe('none');
    }
    expect(ruleFor(defaults.authorization, 'EUR')).toBe('never');
  });

  test('delivers webhooks ten times over 75:35:05, only to public addresses over https', () => {
    const { attemptDelaysSeconds, ...webhooks } = defaults.webhooks;
    expect(attemptDelaysSeconds).toHaveLength(10);
    expect(attemptDelaysSeconds.reduce((sum, delay) => sum + delay, 0)).toBe(75 * 3600 + 35 * 60 + 5);
    expect(webhooks).toEqual({
      jitterRatio: 0.1,
      timeoutMs: 15_000,
      disableAfterHours: 120,
      allowLoopback: false,
      allowPrivate: false,
      allowPlainHttp: false,
    });
  });

  test.each([
    ['chaps', 'GBP', '2026-12-01T17:00:00.000Z'],
    ['sepa', 'EUR', '2026-12-01T15:00:00.000Z'],
    ['target2', 'EUR', '2026-12-01T16:00:00.000Z'],
    ['swift', 'USD', '2026-12-01T17:00:00.000Z'],
    ['swift', 'EUR', '2026-12-01T14:30:00.000Z'],
    ['swift', 'CHF', '2026-12-01T11:00:00.000Z'],
    ['swift', 'PLN', '2026-12-01T09:30:00.000Z'],
    ['swift', 'RON', '2026-12-01T08:30:00.000Z'],
    ['swift', 'JPY', '2026-12-01T11:00:00.000Z'],
  ])('%s in %s closes at %s', (scheme, currency, cutOff) => {
    expect(defaults.schemes.cutOff({ scheme, currency }, '2026-12-01')).toEqual(new Date(cutOff));
  });

  test('faster payments, SEPA instant and internal transfers never close; amounts have the schemes’ limits', () => {
    const { schemes } = defaults;
    for (const of of [
      { scheme: 'faster-payments', currency: 'GBP' },
      { scheme: 'sepa-instant', currency: 'EUR' },
      { scheme: 'internal', currency: 'JPY' },
    ]) {
      expect(schemes.neverCloses(of), of.scheme).toBe(true);
      expect(schemes.unavailableDates(of, new Date('2026-12-24T12:00:00Z'))).toEqual([]);
    }
    expect(schemes.amountLimitMinor({ scheme: 'faster-payments', currency: 'GBP' })).toBe(100_000_000n);
    expect(schemes.amountLimitMinor({ scheme: 'sepa', currency: 'EUR' })).toBe(99_999_999_999n);
    expect(schemes.amountLimitMinor({ scheme: 'chaps', currency: 'GBP' })).toBeNull();
  });

  test.each([
    ['GBP', 'GB', ['faster-payments', 'chaps', 'swift']],
    ['EUR', 'DE', ['sepa', 'sepa-instant', 'target2', 'swift']],
    ['EUR', 'IE', ['sepa', 'sepa-instant', 'target2', 'swift']],
    ['EUR', 'FR', ['sepa', 'sepa-instant', 'target2', 'swift']],
    ['USD', 'US', ['swift']],
    ['JPY', 'JP', ['swift']],
    ['CNY', 'GB', ['swift']],
  ])('the sandbox bank offers %s in %s', (currency, country, schemes) => {
    const found = findOffer(sandboxBank, { currency, country });
    expect(found?.offer.schemes).toEqual(schemes);
    expect(found?.offer.bank?.routingCodes.bic).toBeDefined();
    expect(found && depositSchemes(found.offer, currency, defaults.schemes)).toEqual([...schemes, 'internal']);
  });

  test.each([
    ['GBP', 'GB'],
    ['EUR', 'DE'],
    ['EUR', 'IE'],
    ['EUR', 'FR'],
    ['USD', 'US'],
  ])('payers of %s to %s see the routing codes of the accounts that the sandbox bank opens', (currency, country) => {
    const opened = drawIdentifiers({ currency, country }).routingCodes;
    expect(opened).toMatchObject(
      findOffer(sandboxBank, { currency, country })?.offer.bank?.routingCodes ?? { none: true },
    );
  });

  test('the sandbox bank opens no sterling in Germany, no euro in Spain', () => {
    expect(findOffer(sandboxBank, { currency: 'GBP', country: 'DE' })).toBeNull();
    expect(findOffer(sandboxBank, { currency: 'EUR', country: 'ES' })).toBeNull();
  });

  test('without a country the provider’s default counts, for every currency', () => {
    const countries = { GBP: 'GB', EUR: 'DE', USD: 'US', JPY: 'GB', CNY: 'GB' };
    for (const [currency, country] of Object.entries(countries)) {
      expect(chooseOffer(defaults.providers, { currency, country: null })).toMatchObject({
        provider: { code: 'sandbox-bank' },
        country,
      });
    }
    for (const currency of CURRENCIES) {
      expect(findOffer(sandboxBank, { currency, country: null })?.offer.schemes).toContain('swift');
      expect(findOffer(customBank, { currency, country: 'BR' })?.offer.schemes).toContain('swift');
    }
  });

  test('each scheme reaches its countries only', () => {
    const to = (currency: string, country: string, destinationCountry: string) => {
      const found = findOffer(sandboxBank, { currency, country });
      return found && outgoingSchemes(found.offer, { currency, destinationCountry }, defaults.schemes);
    };
    expect(to('GBP', 'GB', 'GB')).toEqual(['faster-payments', 'chaps', 'swift']);
    expect(to('GBP', 'GB', 'DE')).toEqual(['swift']);
    expect(to('EUR', 'DE', 'IT')).toEqual(['sepa', 'sepa-instant', 'target2', 'swift']);
    expect(to('EUR', 'DE', 'US')).toEqual(['swift']);
  });
});

describe('CONFIG_FILE', () => {
  test('changes what it names and keeps the rest', () => {
    const changed = load({
      rollLimit: 2,
      schemes: { chaps: { cutOff: '16:30' } },
      prices: [
        { direction: 'outgoing', scheme: 'chaps', currency: 'GBP', fixed: '15.50', ratio: '0.001', maximum: '20' },
      ],
      authorization: { byCurrency: { USD: '1000' } },
    });
    expect(changed.rollLimit).toBe(2);
    expect(changed.schemes.cutOff({ scheme: 'chaps', currency: 'GBP' }, '2026-12-01')).toEqual(
      new Date('2026-12-01T16:30:00Z'),
    );
    expect(changed.schemes.codes).toEqual(defaults.schemes.codes);
    expect(changed.prices).toMatchObject([{ fixedMinor: 1550n, pricing: { minimumMinor: null, maximumMinor: 2000n } }]);
    expect(ruleFor(changed.authorization, 'USD')).toEqual({ fromTenThousandths: 10_000_000n });
  });

  test('null removes, and a calendar file is found in its folder', () => {
    writeFileSync(
      join(folder, 'days.json'),
      JSON.stringify({
        source: 'a test',
        from: '2030-01-01',
        publishedUntil: '2030-12-31',
        until: '2030-12-31',
        closedDates: [{ date: '2030-06-03', name: 'A holiday' }],
      }),
    );
    const changed = load({
      calendars: { gb: 'days.json', ch: 'days.json' },
      calendarByCurrency: { CHF: 'ch' },
      providers: { 'custom-bank': null },
    });
    expect(changed.calendars.current.get('gb')?.publishedUntil).toBe('2030-12-31');
    expect(changed.schemes.isOpen({ scheme: 'swift', currency: 'CHF' }, '2030-06-03')).toBe(false);
    expect(changed.providers.map(({ code }) => code)).toEqual(['sandbox-bank']);
  });

  test('the tables of the UK modulus check are found in its folder, and null turns the check off', () => {
    expect(defaults.modulusCheck).toBeNull();
    writeFileSync(join(folder, 'weights.txt'), '089000 089999 MOD10 0 0 0 0 0 0 7 1 3 7 1 3 7 1\r\n');
    writeFileSync(join(folder, 'substitutions.txt'), '938173 938017\r\n');
    const files = { weightsFile: 'weights.txt', substitutionsFile: 'substitutions.txt' };
    const { modulusCheck } = load({ modulusCheck: { ...files, onFailure: 'warn' } });
    expect(modulusCheck).toMatchObject({ onFailure: 'warn', table: { rows: [{ method: 'MOD10', exception: null }] } });
    expect(modulusCheck?.table.substitutions.get('938173')).toBe('938017');
    expect(load({ modulusCheck: null }).modulusCheck).toBeNull();
    const rejected = (patch: object) => () => load({ modulusCheck: { ...files, onFailure: 'reject', ...patch } });
    expect(rejected({ weightsFile: 'absent.txt' })).toThrow('absent.txt cannot be read: ENOENT');
    expect(rejected({ weightsFile: 'substitutions.txt' })).toThrow('substitutions.txt: line 1 must be: start, end');
    expect(rejected({ substitutionsFile: 'weights.txt' })).toThrow('weights.txt: line 1 must be two sort codes');
    expect(rejected({ onFailure: 'ignore' })).toThrow('modulusCheck.onFailure must be reject or warn (is "ignore")');
  });

  test.each<[unknown, string]>([
    [{ rollLimit: -1 }, 'rollLimit must be a whole number from 0 to 365 (is -1)'],
    [{ rollLimt: 1 }, 'rollLimt is no setting'],
    [{ pools: null }, 'pools is missing'],
    [
      { console: { roles: { people: 'boss' } } },
      'console.roles.people must be one of viewer, operator, approver, compliance, admin (is "boss")',
    ],
    [{ console: { scope: 'profile' } }, 'console.scope must begin with openid, with spaces between (is "profile")'],
    [{ console: { remediesOff: 'some' } }, 'console.remediesOff must be a list of kinds, or "all" (is "some")'],
    [{ console: { sessionMinutes: 0 } }, 'console.sessionMinutes must be a whole number from 5 to 1440 (is 0)'],
    [{ schemes: { chaps: { cutOff: '25:00' } } }, 'schemes.chaps.cutOff must be a time of day, hh:mm (is "25:00")'],
    [
      { schemes: { chaps: { zone: '+01:00' } } },
      'schemes.chaps.zone must be an IANA time zone, such as Europe/London (is "+01:00")',
    ],
    [
      { schemes: { swift: { cutOffByCurrency: { XAU: '10:00' } } } },
      'schemes.swift.cutOffByCurrency.XAU must be an active ISO 4217 code (is "XAU")',
    ],
    [
      { schemes: { sepa: { amountLimits: { EUR: '1.001' } } } },
      'schemes.sepa.amountLimits.EUR is too-many-decimals (is "1.001")',
    ],
    [
      { schemes: { sepa: { cutOff: null } } },
      'schemes.sepa.calendars must be empty, as the scheme never closes (cutOff is null)',
    ],
    [{ schemes: { internal: null } }, 'schemes.internal is missing'],
    [{ schemes: { internal: { zone: 'Asia/Tokyo' } } }, 'schemes.internal.zone must be UTC (is "Asia/Tokyo")'],
    [{ webhooks: { allowLoopback: 'yes' } }, 'webhooks.allowLoopback must be true or false (is "yes")'],
    [
      { compliance: { incoming: { mode: 'maybe' } } },
      'compliance.incoming.mode must be one of none, external, built-in (is "maybe")',
    ],
    [
      { authorization: { rule: '1e9' } },
      'authorization.rule must be "never", "always" or an amount as decimal text (is "1e9")',
    ],
    [{ prices: [{ fixed: 1 }] }, 'prices.0.fixed must be decimal text in quotes (is 1)'],
    [{ prices: [{ fixed: '1' }] }, 'prices.0.fixed needs a currency'],
    [
      { prices: [{ currency: 'EUR', ratio: '0.1', minimum: '2', maximum: '1' }] },
      'prices.0.minimum must not be above maximum (is "2")',
    ],
    [{ prices: [{ ratio: 'NaN' }] }, 'prices.0.ratio must be decimal text from 0 to 1 (is "NaN")'],
    [
      { directories: { 'pay-uk': { defaultProvider: 'unknown' } } },
      'directories.pay-uk.defaultProvider must be one of providers (is "unknown")',
    ],
  ])('%j is rejected in one line: %s', (patch, line) => {
    expect(rejection(patch)).toBe(line);
  });

  const rule = { name: 'one', direction: 'both', stop: 'soft-stop' };
  const amount = { ...rule, kind: 'amount', amounts: { EUR: '10000' } };
  test.each<[unknown, string]>([
    [{ ...rule }, 'compliance.rules.0.kind is missing (rule "one")'],
    [
      { ...rule, kind: 'mood' },
      'compliance.rules.0.kind must be one of amount, velocity, country, name (is "mood") (rule "one")',
    ],
    [{ ...amount, stop: 'halt' }, 'compliance.rules.0.stop must be soft-stop or hard-stop (is "halt") (rule "one")'],
    [
      { ...amount, direction: 'up' },
      'compliance.rules.0.direction must be incoming, outgoing or both (is "up") (rule "one")',
    ],
    [{ ...amount, amounts: {} }, 'compliance.rules.0.amounts must have a currency (rule "one")'],
    [
      { ...amount, amounts: { JPY: '1.5' } },
      'compliance.rules.0.amounts.JPY is too-many-decimals (is "1.5") (rule "one")',
    ],
    [{ ...amount, amounts: { EUR: '0' } }, 'compliance.rules.0.amounts.EUR is not-positive (is "0") (rule "one")'],
    [{ ...amount, amount: '1' }, 'compliance.rules.0.amount is no setting (rule "one")'],
    [{ ...rule, kind: 'velocity', window: 'P1D' }, 'compliance.rules.0 must have count or amounts (rule "one")'],
    [
      { ...rule, kind: 'velocity', window: 'P1M', count: 3 },
      'compliance.rules.0.window must be an ISO 8601 duration of at most 366 days, such as P1D (is "P1M") (rule "one")',
    ],
    [
      { ...rule, kind: 'velocity', window: 'P1D', count: 0 },
      'compliance.rules.0.count must be a whole number from 1 to 1000000 (is 0) (rule "one")',
    ],
    [
      { ...rule, kind: 'country', countries: [] },
      'compliance.rules.0.countries must name a country (is 0) (rule "one")',
    ],
    [
      { ...rule, kind: 'country', countries: ['XY'] },
      'compliance.rules.0.countries.0 must be an ISO 3166-1 alpha-2 code (is "XY") (rule "one")',
    ],
    [{ ...rule, kind: 'name' }, 'compliance.rules.0.file is missing (rule "one")'],
    [
      { ...rule, kind: 'name', file: 'a.csv', threshold: 85 },
      'compliance.rules.0.threshold must be from 0.5 to 1 (is 85) (rule "one")',
    ],
  ])('the compliance rule %j is rejected by its name: %s', (rejected, line) => {
    expect(rejection({ compliance: { rules: [rejected] } })).toBe(line);
  });

  test('two compliance rules of one name are rejected', () => {
    expect(rejection({ compliance: { rules: [amount, amount] } })).toBe(
      'compliance.rules.1.name must differ from the names of earlier rules (rule "one")',
    );
  });

  test('compliance rules are read in minor units and milliseconds, and lists are found in the folder of their file', () => {
    const velocity = {
      ...rule,
      name: 'two',
      direction: 'incoming',
      kind: 'velocity',
      window: 'P7D',
      amounts: { KWD: '1.005' },
    };
    const name = { ...rule, name: 'three', stop: 'hard-stop', kind: 'name', file: 'lists/sanctions.csv' };
    const { complianceRules } = load({ compliance: { rules: [amount, velocity, name] } });
    expect(complianceRules).toMatchObject([
      { name: 'one', directions: ['incoming', 'outgoing'], fromMinor: { EUR: 1_000_000n } },
      { directions: ['incoming'], windowMs: 604_800_000, fromCount: null, fromSumMinor: { KWD: 1_005n } },
      { file: join(folder, 'lists/sanctions.csv'), threshold: 0.85, stop: 'hard-stop' },
    ]);
    expect(defaults.complianceRules).toEqual([]);
  });

  test('several bad values are several lines', () => {
    expect(rejection({ rollLimit: 'x', bodyLimitBytes: 1 }).split('\n')).toHaveLength(2);
  });

  test('a file that is missing, broken or no object says so', () => {
    expect(() => loadConfiguration({ CONFIG_FILE: join(folder, 'absent.json') })).toThrow('cannot be read: ENOENT');
    expect(() => load('{"rollLimit":')).toThrow('is not JSON');
    expect(() => load('[]')).toThrow('must hold a JSON object');
  });
});

describe('the environment', () => {
  test('sets the general compliance mode and authorization rule, over the file', () => {
    const changed = load(
      { compliance: { outgoing: { mode: 'built-in', byCurrency: { USD: 'none' } } } },
      { COMPLIANCE_INCOMING: 'built-in', COMPLIANCE_OUTGOING: 'external', AUTHORIZATION_RULE: '1000' },
    );
    expect(ruleFor(changed.compliance.incoming, 'EUR')).toBe('built-in');
    expect(ruleFor(changed.compliance.outgoing, 'EUR')).toBe('external');
    expect(ruleFor(changed.compliance.outgoing, 'USD')).toBe('none');
    expect(ruleFor(changed.authorization, 'EUR')).toEqual({ fromTenThousandths: 10_000_000n });
    expect(ruleFor(loadConfiguration({ AUTHORIZATION_RULE: 'always' }).authorization, 'EUR')).toBe('always');
  });

  test('a bad value is one line that names the variable', () => {
    expect(() => loadConfiguration({ COMPLIANCE_INCOMING: 'on' })).toThrow(
      'COMPLIANCE_INCOMING must be one of none, external, built-in (is "on")',
    );
    expect(() => loadConfiguration({ AUTHORIZATION_RULE: 'often' })).toThrow(
      'AUTHORIZATION_RULE must be never, always or an amount such as 1000 (is "often")',
    );
  });
});
