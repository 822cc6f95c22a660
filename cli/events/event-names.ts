import { FURTHER_EVENT_TYPES, SPECIFIED_EVENT_TYPES } from '../../domain/webhooks/subscriptions.ts';

/** `<module>.<type>` of every event, as the OpenAPI document names it. */
export const EVENT_NAMES: readonly string[] = [
  ...[SPECIFIED_EVENT_TYPES, FURTHER_EVENT_TYPES].flatMap((types) =>
    Object.entries<readonly string[]>(types).flatMap(([module, names]) => names.map((name) => `${module}.${name}`)),
  ),
  'webhook-subscriptions.ping',
];
