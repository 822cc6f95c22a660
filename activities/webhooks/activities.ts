import { WEBHOOK_SHARDS } from '../../workflows/common/messages.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import { ShardDrain } from './drain.ts';
import { createReceivers } from './receivers.ts';

export interface WebhookDeliveryActivities {
  /** Sends a shard's due deliveries. `waitMs`: time until the next one (0: continue), null if none is pending. */
  deliverWebhooks(shard: number): Promise<{ waitMs: number | null }>;
}

export function webhookDeliveryActivities(dependencies: ActivityDependencies): WebhookDeliveryActivities {
  const { database, configuration, keyring, logger, publicUrl } = dependencies;
  const { allowPlainHttp, allowLoopback, allowPrivate, timeoutMs, ...rest } = configuration.webhooks;
  const policy = { allowPlainHttp, allowLoopback, allowPrivate, ownBaseUrl: publicUrl };
  const receivers = createReceivers({ policy, timeoutMs });
  const now = () => new Date();
  const shared = { database, receivers, keyring, logger, now, random: Math.random };
  const options = { ...shared, schedule: rest, timeoutMs, ...rest };
  const drains = Array.from({ length: WEBHOOK_SHARDS }, (_, shard) => new ShardDrain(options, shard));
  return {
    deliverWebhooks: async (shard) => {
      const drain = drains[shard];
      if (drain === undefined) throw new Error(`there is no shard ${shard}`);
      return whileHeartbeating((signal) => drain.run(signal));
    },
  };
}
