import {
  changeThirdPartyProvider,
  createThirdPartyProvider,
  findThirdPartyProvider,
  listThirdPartyProviders,
} from '../../db/third-party-providers/third-party-providers.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { route } from '../http/route.ts';
import { fields, list, uuid } from '../http/schemas/schemas.ts';
import { readRegistration } from './registrations.ts';
import {
  presentThirdPartyProvider,
  REGISTRATION_EXAMPLE,
  statusFilter,
  THIRD_PARTY_PROVIDER_EXAMPLE,
  thirdPartyProviderChangeSent,
  thirdPartyProviderSent,
  thirdPartyProviderShown,
} from './schemas.ts';

const TAG = 'Third-party providers';

const params = { thirdPartyProviderId: uuid<ThirdPartyProviderId>() };

const postThirdPartyProvider = route(
  {
    method: 'POST',
    path: '/third-party-providers',
    operationId: 'createThirdPartyProvider',
    summary: 'Register a third-party provider',
    description:
      'The third-party provider is active immediately. Account holders are redirected only to registered addresses, which are compared character by character: https, without fragment, wildcard or credentials. Keys are public keys for PS256 (RSA, at least 2,048 bits) or ES256. With `dpopBoundAccessTokens`, the third-party provider can get and use only access tokens that are bound to a key (RFC 9449); otherwise bound tokens are optional.',
    tag: TAG,
    roles: ['admin'],
    workflows: { direct: { data: fields({ thirdPartyProvider: thirdPartyProviderSent }) } },
    response: fields({ thirdPartyProvider: thirdPartyProviderShown }),
    examples: {
      requests: { direct: { data: { thirdPartyProvider: REGISTRATION_EXAMPLE } } },
      response: { thirdPartyProvider: THIRD_PARTY_PROVIDER_EXAMPLE },
    },
  },
  async ({ body, initiator, services, write }) => {
    const policy = { allowLoopback: services.configuration.openBanking.allowLoopbackRedirects };
    return write(async (tx) => {
      const registration = readRegistration(body.data.thirdPartyProvider, policy);
      const { dpopBoundAccessTokens = false } = registration;
      const row = await createThirdPartyProvider(tx, { ...registration, dpopBoundAccessTokens }, initiator);
      return { data: { thirdPartyProvider: presentThirdPartyProvider(row) } };
    });
  },
);

const getThirdPartyProvider = route(
  {
    method: 'GET',
    path: '/third-party-providers/{thirdPartyProviderId}',
    operationId: 'getThirdPartyProvider',
    summary: 'Get a third-party provider',
    tag: TAG,
    roles: ['admin'],
    params,
    response: fields({ thirdPartyProvider: thirdPartyProviderShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { thirdPartyProvider: THIRD_PARTY_PROVIDER_EXAMPLE } },
  },
  async ({ params: { thirdPartyProviderId }, services }) => {
    const row = await findThirdPartyProvider(services.database.reader, thirdPartyProviderId);
    if (row === null) throw recordNotFound('thirdPartyProvider', 'id', thirdPartyProviderId);
    return { data: { thirdPartyProvider: presentThirdPartyProvider(row) } };
  },
);

const getThirdPartyProviders = route(
  {
    method: 'GET',
    path: '/third-party-providers',
    operationId: 'listThirdPartyProviders',
    summary: 'List third-party providers in order of creation',
    tag: TAG,
    roles: ['admin'],
    paged: true,
    query: { 'data.thirdPartyProvider.status': statusFilter },
    response: fields({ thirdPartyProviders: list(thirdPartyProviderShown, 0, 100) }),
    examples: { response: { thirdPartyProviders: [THIRD_PARTY_PROVIDER_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = { status: query['data.thirdPartyProvider.status'] };
    const { rows, totalElements } = await listThirdPartyProviders(services.database.reader, filter, page);
    return { data: { thirdPartyProviders: rows.map(presentThirdPartyProvider) }, totalElements };
  },
);

const patchThirdPartyProvider = route(
  {
    method: 'PATCH',
    path: '/third-party-providers/{thirdPartyProviderId}',
    operationId: 'updateThirdPartyProvider',
    summary: 'Change a third-party provider, or end its access',
    description:
      'Takes effect immediately: an inactive third-party provider has no access, neither with its own tokens nor with access tokens. Redirect addresses and keys are replaced as a whole.',
    tag: TAG,
    roles: ['admin'],
    params,
    workflows: { direct: { data: fields({ thirdPartyProvider: thirdPartyProviderChangeSent }) } },
    response: fields({ thirdPartyProvider: thirdPartyProviderShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: {
      requests: { direct: { data: { thirdPartyProvider: { status: 'inactive' } } } },
      response: { thirdPartyProvider: { ...THIRD_PARTY_PROVIDER_EXAMPLE, status: 'inactive' } },
    },
  },
  async ({ params: { thirdPartyProviderId }, body, initiator, services, write }) => {
    const policy = { allowLoopback: services.configuration.openBanking.allowLoopbackRedirects };
    const change = readRegistration(body.data.thirdPartyProvider, policy);
    return write(async (tx) => {
      const row = await changeThirdPartyProvider(tx, thirdPartyProviderId, change, initiator);
      return { data: { thirdPartyProvider: presentThirdPartyProvider(row) } };
    });
  },
);

export const thirdPartyProviderRoutes = [
  postThirdPartyProvider,
  getThirdPartyProvider,
  getThirdPartyProviders,
  patchThirdPartyProvider,
];
