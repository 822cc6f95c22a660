import type { ConsentRow } from '../../db/open-banking/consents.ts';
import type { ThirdPartyProviderRow } from '../../db/third-party-providers/third-party-providers.ts';
import type { ConsentScope } from '../../domain/open-banking/consents.ts';
import type {
  Contract,
  Entries,
  NoEntries,
  OpenRoute,
  Outcome,
  Route,
  RouteContext,
  Shown,
  UntypedHandler,
  WorkflowContracts,
} from './route.ts';
import type { Schema } from './schemas/schemas.ts';

/** A route for third-party providers. `scope` is null where they sign the bearer themselves. */
export interface ThirdPartyRoute {
  readonly kind: 'third-party';
  readonly scope: ConsentScope | null;
  readonly contract: Route['contract'];
  readonly handler: UntypedHandler;
}

export type AnyRoute = Route | ThirdPartyRoute | OpenRoute;

/**
 * Routes that third-party providers call, not machine users: declared as `route` is, without roles. They authenticate with a token that
 * they sign themselves (`thirdPartyRoute`), or with the access token of a consent (`grantRoute`).
 */
export function thirdPartyRoute<
  const Params extends Entries = NoEntries,
  const Query extends Entries = NoEntries,
  const Workflows extends WorkflowContracts = NoEntries,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
>(
  contract: ThirdPartyContract<Params, Query, Workflows, Data>,
  handler: (context: ThirdPartyContext<Params, Query, Workflows, Data>) => Promise<Outcome<Shown<Data>>>,
): ThirdPartyRoute {
  // As in `route`.
  return { kind: 'third-party', scope: null, contract, handler: handler as unknown as UntypedHandler };
}

/** `scope`: the consents whose access tokens are accepted. */
export function grantRoute<
  const Params extends Entries = NoEntries,
  const Query extends Entries = NoEntries,
  const Workflows extends WorkflowContracts = NoEntries,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
>(
  scope: ConsentScope,
  contract: ThirdPartyContract<Params, Query, Workflows, Data>,
  handler: (context: GrantContext<Params, Query, Workflows, Data>) => Promise<Outcome<Shown<Data>>>,
): ThirdPartyRoute {
  return { kind: 'third-party', scope, contract, handler: handler as unknown as UntypedHandler };
}

type ThirdPartyContract<
  Params extends Entries,
  Query extends Entries,
  Workflows extends WorkflowContracts,
  Data extends Schema<unknown, unknown>,
> = Omit<Contract<Params, Query, Workflows, Data>, 'roles'>;

export type ThirdPartyContext<
  Params extends Entries = Entries,
  Query extends Entries = Entries,
  Workflows extends WorkflowContracts = WorkflowContracts,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
> = Omit<RouteContext<Params, Query, Workflows, Data>, 'caller'> & { readonly thirdParty: ThirdPartyProviderRow };

export type GrantContext<
  Params extends Entries = Entries,
  Query extends Entries = Entries,
  Workflows extends WorkflowContracts = WorkflowContracts,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
> = Omit<RouteContext<Params, Query, Workflows, Data>, 'caller'> & {
  /** As it was when the token was looked up. */
  readonly grant: ConsentRow;
};
