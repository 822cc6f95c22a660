import * as v from 'valibot';
import type { ThirdPartyProviderRow } from '../../db/third-party-providers/third-party-providers.ts';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import {
  isWebAddress,
  THIRD_PARTY_ALGORITHMS,
  THIRD_PARTY_PROVIDER_STATUSES,
  WEB_ADDRESS_LENGTH_MAX,
} from '../../domain/third-party-providers/third-party-providers.ts';
import { named } from '../http/schemas/named.ts';
import {
  boolean,
  dateTime,
  fields,
  hint,
  list,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { base64Url } from '../machine-users/keys.ts';

const NAME_LENGTH_MAX = 140;
const DESCRIPTION_LENGTH_MAX = 500;
/** Most third parties have a web address and one or two applications. */
const REDIRECT_URIS_MAX = 20;
/** Rotation needs two. */
const KEYS_MAX = 10;

const webAddress = () =>
  v.pipe(
    v.string('must be a web address'),
    v.check(isWebAddress, 'must be a web address, http or https'),
    hint<string>({ format: 'uri', maxLength: WEB_ADDRESS_LENGTH_MAX, pattern: '^https?://' }),
  );

/** Further rules depend on the configuration. */
const redirectUri = () =>
  v.pipe(v.string('must be an https address'), hint<string>({ format: 'uri', maxLength: WEB_ADDRESS_LENGTH_MAX }));

/** RFC 7517, only public keys: a private part is rejected as an unknown field. */
const jwksSent = named(
  'ThirdPartyJwks',
  fields({
    keys: list(
      named(
        'ThirdPartyKey',
        fields({
          kid: pattern(/^[A-Za-z0-9._~-]{1,128}$/, '1 to 128 of letters, digits, -, ., _ and ~'),
          kty: picklist(['RSA', 'EC']),
          alg: optional(named('ThirdPartyAlgorithm', picklist(THIRD_PARTY_ALGORITHMS))),
          crv: optional(picklist(['P-256'])),
          n: optional(base64Url(1_400)),
          e: optional(base64Url(16)),
          x: optional(base64Url(64)),
          y: optional(base64Url(64)),
          use: optional(picklist(['sig'])),
          key_ops: optional(list(picklist(['verify']), 0, 1)),
          ext: optional(v.boolean('must be true or false')),
        }),
      ),
      1,
      KEYS_MAX,
    ),
  }),
);

export type JwksSent = v.InferOutput<typeof jwksSent>;

const ENTRIES = {
  name: text(NAME_LENGTH_MAX),
  website: webAddress(),
  applicationName: text(NAME_LENGTH_MAX),
  applicationDescription: text(DESCRIPTION_LENGTH_MAX),
  applicationWebsite: webAddress(),
  redirectUris: list(redirectUri(), 1, REDIRECT_URIS_MAX),
  jwks: jwksSent,
};

const status = () => named('ThirdPartyProviderStatus', picklist(THIRD_PARTY_PROVIDER_STATUSES));

export const thirdPartyProviderSent = named(
  'ThirdPartyProvider',
  fields({ ...ENTRIES, dpopBoundAccessTokens: optional(boolean()) }),
);

export const thirdPartyProviderChangeSent = named(
  'ThirdPartyProvider',
  fields({
    name: optional(ENTRIES.name),
    website: optional(ENTRIES.website),
    applicationName: optional(ENTRIES.applicationName),
    applicationDescription: optional(ENTRIES.applicationDescription),
    applicationWebsite: optional(ENTRIES.applicationWebsite),
    redirectUris: optional(ENTRIES.redirectUris),
    jwks: optional(ENTRIES.jwks),
    dpopBoundAccessTokens: optional(boolean()),
    status: optional(status()),
  }),
);

export const thirdPartyProviderShown = named(
  'ThirdPartyProvider',
  fields({
    id: uuid<ThirdPartyProviderId>(),
    ...ENTRIES,
    dpopBoundAccessTokens: boolean(),
    status: status(),
    createdDateTime: dateTime(),
    updatedDateTime: dateTime(),
  }),
);

export const statusFilter = optional(status());

export function presentThirdPartyProvider(row: ThirdPartyProviderRow) {
  const { id, name, website, applicationName, applicationDescription, applicationWebsite, redirectUris } = row;
  const described = { name, website, applicationName, applicationDescription, applicationWebsite };
  return {
    id,
    ...described,
    redirectUris,
    jwks: row.jwks,
    dpopBoundAccessTokens: row.dpopBoundAccessTokens,
    status: row.status,
    createdDateTime: formatDateTime(row.createdAt),
    updatedDateTime: formatDateTime(row.updatedAt),
  };
}

export const REGISTRATION_EXAMPLE = {
  name: 'Brook Lane Budgets Ltd',
  website: 'https://budgets.example',
  applicationName: 'Brook Lane Budgets',
  applicationDescription: 'Shows all accounts of a household on one page.',
  applicationWebsite: 'https://app.budgets.example',
  redirectUris: ['https://app.budgets.example/callback'],
  jwks: {
    keys: [
      {
        kid: 'budgets-2026-03',
        alg: 'ES256',
        kty: 'EC',
        crv: 'P-256',
        x: 'AS2pslNkjLM6I_zmeQaJB1elQrbXg7bR5bmLvJuhGog',
        y: 'ARgJtYEKbC7rX-0yzXVjSaoedbkPx020vwm5m-eakpQ',
      },
    ],
  },
};

export const THIRD_PARTY_PROVIDER_EXAMPLE = {
  id: '0199c4c0-3a5e-7d12-8c41-5e7f90a1b2c3',
  ...REGISTRATION_EXAMPLE,
  dpopBoundAccessTokens: false,
  status: 'active',
  createdDateTime: '2026-03-02T09:30:00',
  updatedDateTime: '2026-03-02T09:30:00',
};
