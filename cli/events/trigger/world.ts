import { setTimeout as sleep } from 'node:timers/promises';
import { ActionableError } from '../../common/actionable-error.ts';
import type { Json } from '../../common/answers.ts';

/** A service and its sandbox, over HTTP as callers, payers and third parties use them. Everything but a success ends the command. */
export interface TriggerWorld {
  readonly publicUrl: string;
  /** The `aud` of tokens. */
  readonly audience: string;
  /** The answer's body. `token` is another party's. */
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object, token?: string): Promise<Json>;
  /** Of a user of compliance, if the caller itself is none; undefined if the caller must be one. */
  complianceToken(): Promise<string | undefined>;
  /** Null if there is no such resource. */
  find(path: string): Promise<Json | null>;
  form(path: string, form: Readonly<Record<string, string>>): Promise<Json>;
  sandbox(path: string, body: object): Promise<Json>;
}

/** What `--for` may name: the kinds of resources, and where each is read. */
export const GIVEN_KINDS = {
  account: { path: '/accounts/', name: 'account' },
  client: { path: '/clients/', name: 'client' },
  'outgoing-transfer': { path: '/outgoing-transfers/', name: 'outgoingTransfer' },
  'incoming-transfer': { path: '/incoming-transfers/', name: 'incomingTransfer' },
  consent: { path: '/open-banking/GB/consents/', name: 'consent' },
  user: { path: '/users/', name: 'user' },
  beneficiary: { path: '/beneficiaries/', name: 'beneficiary' },
  'webhook-subscription': { path: '/webhook-subscriptions/', name: 'webhookSubscription' },
} as const;

export type GivenKind = keyof typeof GIVEN_KINDS;

/** The resource that `--for` names. */
export interface GivenResource {
  readonly kind: GivenKind;
  readonly resource: Json;
}

/** What a cause works with. */
export interface Stage {
  readonly world: TriggerWorld;
  readonly given: GivenResource | null;
}

/** The given resource, if it is of this kind. */
export function givenAs({ given }: Stage, kind: GivenKind): Json | null {
  return given?.kind === kind ? given.resource : null;
}

const WAIT_MS_MAX = 60_000;
const POLL_MS = 200;

/** Looks until something is found; the service and its bank work in the meantime. */
export async function until<Found>(what: string, look: () => Promise<Found | null>): Promise<Found> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > deadline) {
      throw new ActionableError(
        `${what} did not happen within ${WAIT_MS_MAX / 1_000} s. Does a worker run (fas doctor)?`,
      );
    }
    await sleep(POLL_MS);
  }
}
